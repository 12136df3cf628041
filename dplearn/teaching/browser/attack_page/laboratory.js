// DP-SGD of a softmax model of digits, correct or with one fault, and a membership inference attack.

/** Return `next({ key, plan })`, which trains once with new random members and counts the accused planted people; the
 * first runs of a key only set the attack's threshold. A worker gets this function's text, so it must not use outer
 * names. @param {{pixels: string, labels: string, others: number}} digits 64 base-17 digits a picture: first the
 * `others`, always members, then the planted people, then the test set */
export function laboratory({ pixels, labels, others }) {
  const [CLASSES, WIDTH, PLANTED, PRACTICE, FALSE_ALARMS, RATE] = [10, 65, 200, 12, 0.05, 0.5];
  // Value of a planted person's own column, which is 0 for all others.
  const SERIAL = 40;
  const count = labels.length;
  // The bias input 1 follows the pixels.
  const images = new Float64Array(count * WIDTH).fill(1);
  for (let i = 0; i < count; i++) {
    for (let p = 0; p < 64; p++) images[i * WIDTH + p] = parseInt(pixels[i * 64 + p], 17) / 16;
  }
  const norms = Array.from({ length: count }, (_, i) => Math.hypot(...images.subarray(i * WIDTH, (i + 1) * WIDTH)));

  // The browser's cryptographic generator gives at most 65,536 bytes at once.
  let [bits, used] = [new Uint32Array(16_384), 16_384];
  const uniform = () => {
    if (used === bits.length) [bits, used] = [crypto.getRandomValues(bits), 0];
    return (bits[used++] + 0.5) / 2 ** 32;
  };
  const gap = (q) => Math.floor(Math.log(uniform()) / Math.log1p(-q));

  // Arrays of one run: the model's coordinates, then each planted person's own coordinates.
  const SIZE = CLASSES * WIDTH;
  const [weights, sum, noise, last] = [0, 1, 2, 3].map(() => new Float64Array(SIZE + PLANTED * CLASSES));
  const fillNormal = (end) => {
    for (let i = 0; i < end; i += 2) {
      const [radius, angle] = [Math.sqrt(-2 * Math.log(uniform())), 2 * Math.PI * uniform()];
      noise[i] = radius * Math.cos(angle);
      noise[i + 1] = radius * Math.sin(angle);
    }
  };

  const p = new Float64Array(CLASSES);
  /** Write the softmax of an image into `p`; `own`, if not 0, is the index of a serial number's weights. */
  const predict = (i, own) => {
    let most = -Infinity;
    for (let k = 0, w = 0; k < CLASSES; k++) {
      let sum = own ? SERIAL * weights[own + k] : 0;
      for (let f = i * WIDTH; f < (i + 1) * WIDTH; f++, w++) sum += weights[w] * images[f];
      p[k] = sum;
      most = Math.max(most, sum);
    }
    let total = 0;
    for (let k = 0; k < CLASSES; k++) total += p[k] = Math.exp(p[k] - most);
    for (let k = 0; k < CLASSES; k++) p[k] /= total;
  };
  const length = (x) => Math.sqrt(x.reduce((all, value) => all + value * value, 0));
  /** Write the gradient of the logits into `p`; return the factor that clips the gradient of the weights to C. */
  const look = (i, own, C) => {
    predict(i, own);
    p[labels[i]] -= 1;
    const norm = length(p) * Math.sqrt(norms[i] ** 2 + (own ? SERIAL ** 2 : 0));
    return Math.min(1, C / Math.max(norm, 1e-12));
  };
  /** Add a person's clipped gradient to the sum. */
  const add = (i, own, C) => {
    const factor = look(i, own, C);
    for (let k = 0, w = 0; k < CLASSES; k++) {
      const part = factor * p[k];
      for (let f = i * WIDTH; f < (i + 1) * WIDTH; f++, w++) sum[w] += part * images[f];
      if (own) sum[own + k] += part * SERIAL;
    }
  };

  /** Train once; return the attack's score of each planted person, high for members, and the accuracy.
   * @param {Uint8Array} members @param {any} plan the fields of a run; the program, "" for a correct one;
   * the attack, "" on gradients as the theorem allows, "serial" or "model" on people with serial numbers */
  const train = (members, { noise_multiplier: sigma, sample_rate: q, steps: T, max_grad_norm: C, program, attack }) => {
    const lot = q * (PLANTED / 2 + others);
    const clips = program !== "mean";
    const bound = clips ? C : Infinity;
    const spread = { bare: sigma, twice: (sigma * C) / lot }[program] ?? sigma * C;
    // Number of coordinates that belong to each planted person. Without serial numbers it is 1: the person's
    // gradient is 10 C there before clipping, and 0 elsewhere.
    const OWN = attack ? CLASSES : 1;
    const end = SIZE + PLANTED * OWN;
    const [scores, pull, way] = [new Float64Array(PLANTED), new Float64Array(PLANTED).fill(clips ? C : 10 * C), new Float64Array(PLANTED * OWN).fill(1)];
    weights.fill(0);
    fillNormal(end);
    for (let t = 0; t < T; t++) {
      sum.fill(0);
      for (let i = 0, own = SIZE; i < PLANTED; i++, own += OWN) {
        if (attack === "serial") {
          const factor = look(others + i, own, bound);
          const norm = length(p);
          pull[i] = factor * norm * SERIAL;
          for (let k = 0; k < CLASSES; k++) way[i * CLASSES + k] = p[k] / norm;
        }
        if (!members[i] || uniform() >= q) continue;
        if (attack) add(others + i, own, bound);
        else sum[own] = pull[i];
      }
      for (let i = gap(q); i < others; i += 1 + gap(q)) add(i, 0, bound);
      if (!clips) {
        const factor = Math.min(1, (C * lot) / length(sum));
        for (let i = 0; i < end; i++) sum[i] *= factor;
      }
      if (program !== "seed") fillNormal(end);
      for (let i = 0; i < end; i++) {
        sum[i] += spread * noise[i];
        weights[i] -= (RATE / lot) * sum[i];
      }
      for (let i = 0; i < PLANTED && attack !== "model"; i++) {
        let x = 0, moved = 0;
        for (let k = i * OWN; k < (i + 1) * OWN; k++) {
          x += way[k] * sum[SIZE + k];
          moved += (sum[SIZE + k] - last[SIZE + k]) ** 2;
        }
        // With equal noise in both steps, the difference contains only gradients.
        if (program === "seed") scores[i] = t ? Math.max(scores[i], moved) : 0;
        else {
          const loss = (pull[i] * x - 0.5 * pull[i] * pull[i]) / (sigma * C) ** 2;
          scores[i] += loss > 500 ? loss + Math.log(q) : Math.log1p(q * Math.expm1(loss));
        }
      }
      last.set(sum);
    }
    // Score on the final model: log probability of the label with the serial number, minus the value without it.
    for (let i = 0; i < PLANTED && attack === "model"; i++) {
      const sure = [SIZE + i * OWN, 0].map((own) => {
        predict(others + i, own);
        return Math.log(Math.max(p[labels[others + i]], 1e-300));
      });
      scores[i] = sure[0] - sure[1];
    }
    let right = 0;
    const first = others + PLANTED;
    for (let i = first; i < count; i++) {
      predict(i, 0);
      right += Number(p.indexOf(Math.max(...p)) === Number(labels[i]));
    }
    return { scores, accuracy: right / (count - first) };
  };

  let [key, threshold, practised] = [NaN, 0, []];
  return (question) => {
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
    const accused = (side) => side.filter((score) => score > threshold).length;
    return { key, accuracy, counts: [accused(inside), inside.length, accused(outside), outside.length] };
  };
}
