from dplearn.teaching.claims.judging import Finding, Line, proofread
