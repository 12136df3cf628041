// DP-SGD of a softmax model of digits, right or with one fault, and an attacker who accuses members.

/** Return `next({ key, plan })`, which trains once, with fresh coins for who is a member, and says how
 * many planted people are accused; the first runs of a key only set the attacker's threshold. The
 * text of this function is sent to a worker: it uses nothing around it.
 * @param {{pixels: string, labels: string, others: number}} digits 64 base-17 digits a picture; the
 * first `others` are trained on, the rest measures accuracy */
export function laboratory({ pixels, labels, others }) {
  const [CLASSES, WIDTH, PLANTED, PRACTICE, FALSE_ALARMS, RATE] = [10, 65, 200, 12, 0.05, 0.5];
  const count = labels.length;
  // A bias of 1 after the pixels.
  const images = new Float64Array(count * WIDTH).fill(1);
  for (let i = 0; i < count; i++) {
    for (let p = 0; p < 64; p++) images[i * WIDTH + p] = parseInt(pixels[i * 64 + p], 17) / 16;
  }
  const row = (i) => images.subarray(i * WIDTH, (i + 1) * WIDTH);
  const norms = Array.from({ length: count }, (_, i) => Math.hypot(...row(i)));

  // xoshiro128**, seeded by the browser's cryptographic generator.
  const s = crypto.getRandomValues(new Uint32Array(4));
  const uniform = () => {
    const r = Math.imul(s[1], 5);
    const bits = Math.imul((r << 7) | (r >>> 25), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return (bits + 0.5) / 2 ** 32;
  };
  const fillNormal = (/** @type {Float64Array} */ out) => {
    for (let i = 0; i < out.length; i += 2) {
      const [radius, angle] = [Math.sqrt(-2 * Math.log(uniform())), 2 * Math.PI * uniform()];
      out[i] = radius * Math.cos(angle);
      if (i + 1 < out.length) out[i + 1] = radius * Math.sin(angle);
    }
  };

  const p = new Float64Array(CLASSES);
  /** Put the softmax of an image into `p`. @param {Float64Array} weights @param {number} i */
  const predict = (weights, i) => {
    let most = -Infinity;
    for (let k = 0, w = 0; k < CLASSES; k++) {
      let sum = 0;
      for (let f = i * WIDTH; f < (i + 1) * WIDTH; f++, w++) sum += weights[w] * images[f];
      p[k] = sum;
      most = Math.max(most, sum);
    }
    let total = 0;
    for (let k = 0; k < CLASSES; k++) total += p[k] = Math.exp(p[k] - most);
    for (let k = 0; k < CLASSES; k++) p[k] /= total;
  };

  /** Train once; return the attacker's score of each planted person, high for members, and the accuracy.
   * @param {Uint8Array} members @param {any} plan the fields of a run, and the program, "" for a correct one */
  const train = (members, { noise_multiplier: sigma, sample_rate: q, steps: T, max_grad_norm: C, program }) => {
    const lot = q * (PLANTED / 2 + others);
    const clips = program !== "mean";
    // A planted gradient has norm 10 C in a coordinate of its own, before it is clipped.
    const pull = clips ? C : 10 * C;
    const spread = { bare: sigma, twice: (sigma * C) / lot }[program] ?? sigma * C;
    const size = CLASSES * WIDTH;
    const weights = new Float64Array(size);
    const [sum, noise] = [new Float64Array(size + PLANTED), new Float64Array(size + PLANTED)];
    const [scores, last] = [new Float64Array(PLANTED), new Float64Array(PLANTED)];
    const gap = () => Math.floor(Math.log(uniform()) / Math.log1p(-q));
    const add = (/** @type {number} */ i) => {
      predict(weights, i);
      p[labels[i]] -= 1;
      const norm = Math.sqrt(p.reduce((all, x) => all + x * x, 0)) * norms[i];
      const factor = clips ? Math.min(1, C / Math.max(norm, 1e-12)) : 1;
      for (let k = 0, w = 0; k < CLASSES; k++) {
        const part = factor * p[k];
        for (let f = i * WIDTH; f < (i + 1) * WIDTH; f++, w++) sum[w] += part * images[f];
      }
    };
    fillNormal(noise);
    for (let t = 0; t < T; t++) {
      sum.fill(0);
      for (let i = 0; i < PLANTED; i++) if (members[i] && uniform() < q) sum[size + i] = pull;
      for (let i = gap(); i < others; i += 1 + gap()) add(i);
      if (!clips) {
        const norm = Math.sqrt(sum.reduce((all, x) => all + x * x, 0));
        const factor = Math.min(1, (C * lot) / norm);
        sum.forEach((x, i) => (sum[i] = factor * x));
      }
      if (program !== "seed") fillNormal(noise);
      for (let i = 0; i < sum.length; i++) sum[i] += spread * noise[i];
      for (let i = 0; i < size; i++) weights[i] -= (RATE / lot) * sum[i];
      for (let i = 0; i < PLANTED; i++) {
        const x = sum[size + i];
        // The same noise twice leaves nothing in a difference but people.
        if (program === "seed") scores[i] = t ? Math.max(scores[i], Math.abs(x - last[i])) : 0;
        else {
          const loss = (pull * x - 0.5 * pull * pull) / (sigma * C) ** 2;
          scores[i] += loss > 500 ? loss + Math.log(q) : Math.log1p(q * Math.expm1(loss));
        }
        last[i] = x;
      }
    }
    let right = 0;
    for (let i = others; i < count; i++) {
      predict(weights, i);
      right += Number(p.indexOf(Math.max(...p)) === Number(labels[i]));
    }
    return { scores, accuracy: right / (count - others) };
  };

  let [key, threshold] = [NaN, 0];
  /** @type {number[][]} */
  let practised = [];
  return (/** @type {any} */ question) => {
    if (question.key !== key) [key, practised] = [question.key, []];
    const members = crypto.getRandomValues(new Uint8Array(PLANTED)).map((byte) => byte & 1);
    const { scores, accuracy } = train(members, question.plan);
    const [inside, outside] = [1, 0].map((bit) => [...scores].filter((_, i) => members[i] === bit));
    if (practised.length < PRACTICE) {
      practised.push(outside);
      const sorted = practised.flat().sort((a, b) => a - b);
      threshold = sorted[Math.ceil((1 - FALSE_ALARMS) * sorted.length) - 1];
      return { key, practised: practised.length };
    }
    const accused = (/** @type {number[]} */ side) => side.filter((score) => score > threshold).length;
    return { key, accuracy, counts: [accused(inside), inside.length, accused(outside), outside.length] };
  };
}
