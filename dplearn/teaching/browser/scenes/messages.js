// Texts of the one-minute page in both languages; {name} is a number.

/** @type {{[name: string]: [string, string]}} */
export const TABLE = {
  code: ["en", "zh"], other: ["中文", "EN"], minute: ["One minute on privacy", "一分钟看隐私"],
  back: ["Back", "上一幕"], next: ["Next", "下一幕"], goto: ["Scene {scene}", "第 {scene} 幕"],
  run: ["Noise σ = {noise_multiplier}, each record in a step with chance {sample_rate}, δ = {delta}.", "噪声 σ = {noise_multiplier}，每条记录以 {sample_rate} 的概率进入一步，δ = {delta}。"],
  steps: ["{T} steps", "{T} 步"], add_remove: ["one record added or removed", "增减一条记录"],
  zero_out: ["one record zeroed out", "一条记录置零"], replace_one: ["one record replaced", "替换一条记录"],
  unread: ["Not read in the address: {parts}.", "地址中未读懂：{parts}。"],

  guess: ["How fast does ε grow?", "ε 增长得多快？"],
  draw: ["ε limits what training can reveal about one person. Draw your guess over {T} steps.",
    "ε 限定训练能泄露一个人多少信息。画出你猜的 {T} 步曲线。"],
  here: ["draw here", "在这里画"], further: ["Draw further to the right.", "请再向右画。"],
  level: ["Your guess of ε after {T} steps", "你猜的 {T} 步之后的 ε"],

  truth: ["ε ≤ {epsilon}", "ε ≤ {epsilon}"],
  unguessed: ["This is proved after {T} steps.", "这是 {T} 步之后已证明的值。"],
  large: ["Your guess is {times} times too large at T = {T}.", "在 T = {T} 处，你的猜测是它的 {times} 倍。"],
  small: ["Your guess is {times} times too small at T = {T}.", "在 T = {T} 处，它是你的猜测的 {times} 倍。"],
  close: ["Your guess is right to within 10 % at T = {T}.", "在 T = {T} 处，你的猜测误差不到 10 %。"],
  proved: ["Proved in this page for randomly drawn batches, {neighbours}: {lower} ≤ ε ≤ {upper}.",
    "由本页证明（随机抽取批次，{neighbours}）：{lower} ≤ ε ≤ {upper}。"],
  bounded: ["Proved in this page for randomly drawn batches, {neighbours}.", "由本页证明（随机抽取批次，{neighbours}）。"],
  yours: ["your guess", "你的猜测"], exact: ["proved", "已证明"],

  printed: ["Why did the paper say {printed}?", "论文为什么说是 {printed}？"],
  counted: ["The accountant of 2016 says {moments}.", "2016 年的会计方法给出 {moments}。"],
  why: ["The moments accountant keeps 32 moments of the privacy loss. The whole loss proves {epsilon}: the bound was true, and {percent} % too large.",
    "矩会计只保留隐私损失的 32 个矩；用整个损失可证明 {epsilon}。那个上界没有错，只是大了 {percent} %。"],
  paper: ["moments", "矩会计"],

  shuffle: ["Shuffle the batches, and the claim breaks.", "打乱批次，结论不再成立。"],
  breaks: ["For batches drawn at random, ε ≤ {claim}. Shuffle them instead, and ε ≥ {lower} is proved: more than {times} times as much.",
    "批次随机抽取时，ε ≤ {claim}。若改为打乱数据，则已证明 ε ≥ {lower}：超过 {times} 倍。"],
  epoch: ["Noise σ = {noise_multiplier}, one epoch of {T} batches, δ = {delta}, {neighbours}: shuffled, {lower} ≤ ε ≤ {upper}.",
    "噪声 σ = {noise_multiplier}，一轮 {T} 个批次，δ = {delta}，{neighbours}：打乱后 {lower} ≤ ε ≤ {upper}。"],
  unknown: ["Of the run before, shuffled with one record left out, {lower} ≤ ε ≤ {upper} is proved, which leaves open whether {epsilon} holds.",
    "前面的训练若打乱批次并留出一条记录，只证明了 {lower} ≤ ε ≤ {upper}：{epsilon} 是否成立，尚无定论。"],
  broken: ["Of the run before, shuffled with one record left out, {lower} ≤ ε ≤ {upper} is proved: {epsilon} does not hold.",
    "前面的训练若打乱批次并留出一条记录，已证明 {lower} ≤ ε ≤ {upper}：{epsilon} 不成立。"],
  claim: ["at random", "随机抽取"], shuffled: ["shuffled", "打乱"],

  explore: ["Change the numbers", "换一组数字"],
};

/** Return the function `say(name, numbers)` of a language. */
export const speaker = (language) => {
  const column = TABLE.code.indexOf(language);
  return (name, numbers = {}) => TABLE[name][column]
    .replace(/\{(\w+)\}/g, (_, key) => numbers[key])
    // Do not break a line at a relation sign.
    .replace(/ ([=≤≥]) /g, "\u00a0$1\u00a0");
};
