// Texts of the page in English and Chinese; {name} is a draggable number.
import { inBoth } from "../page/messages.js";

const en = {
  start: "Attack", again: "Guess again", open: "not guessed yet",
  sentence: "1,438 people train a model of digits: {sample_rate} of them in a step, {steps} steps, noise σ = {noise_multiplier}, clipped at C = {max_grad_norm}. A coin decides for each of 200 whether they are in. An attacker asks: who was in?",
  guess: "Guess first: draw in the picture how far the attack will get, or type it: ε ≥ {guess}.", guessed: (guess) => `You guessed ε ≥ ${guess}.`, draw: "← draw how far it will get",
  labels: { sample_rate: "Share of the people in a step", steps: "Steps", noise_multiplier: "Noise multiplier sigma", max_grad_norm: "Clipping norm C", guess: "Your guess of epsilon" },
  members: "100 members", others: "100 others", found: "found", accused: "accused wrongly", allowed: (count) => `○ at most ${count} in the long run, by the proof`, claims: (count) => `○ at most ${count} in the long run, by the claim`,
  proved: (epsilon) => `proved: ε ≤ ${epsilon}`, claimed: (epsilon) => `claimed: ε ≤ ${epsilon}`, shown: (epsilon) => `shown: ε ≥ ${epsilon}`,
  far: "shown: more than 4 × the claim", mine: (guess) => `your guess: ${guess}`, axis: "ε at δ = 10⁻⁵", picture: "Epsilon that the attack has shown, and epsilon that is proved or claimed",
  program: "The program", programs: { "": "Correct", mean: "Clips the mean, not each person", bare: "Noise σ, not σ·C", twice: "Noise divided twice", seed: "Same seed in each step" },
  attack: "The attack",
  attacks: { "": "Worst case", serial: "Serial number", model: "Serial number, model only" },
  about: { program: {
    "": "Each person’s gradient is clipped to C, the sum gets noise of deviation σ·C, and coins draw each lot.",
    mean: "The lot’s mean gradient is clipped, as after loss.mean(). One person may pull ten times as hard as C.",
    bare: "The noise has deviation σ. It was not multiplied by the clipping norm.",
    twice: "The noise is divided by the lot’s size before it is added, and the noisy sum once more.",
    seed: "The seed is set inside the loop. Two steps have the same noise, and their difference is people.",
  }, attack: {
    "": "The gradient of each of the 200 has a coordinate of its own and is longer than C, the worst that the theorem allows. The attacker sees each noisy sum.",
    serial: "A mistake in the table: each of the 200 digits has a column with a serial number. The attacker sees each noisy sum.",
    model: "The same table, but the attacker only asks the finished model about each digit, with its serial number and without.",
  } },
  waits: "Nothing is attacked yet.", practises: (n) => `The attacker practises, ${n} of 12 runs: who is accused when 5 of 100 others may be?`,
  nothing: "So far, chance alone could have accused as well.",
  part: (percent, epsilon) => `The attack has shown ${percent} % of what is proved. More runs can show more. They do not pass ε = ${epsilon}, except in at most 5 of 100 such attacks.`,
  behind: (percent, epsilon) => `The attack has shown ${percent} % of the claim ε ≤ ${epsilon}. The claim is false, and this attack has not shown it yet.`,
  refuted: (epsilon, run, seconds) => `Refuted in run ${run}, after ${seconds} s. The claim ε ≤ ${epsilon} is false: so many members cannot be found if it holds.`,
  runs: (runs, rate, next, accuracy) => `${runs} runs, ${rate} a second. ${next ? `Next look at run ${next}` : "The last look is done"}. The model is right on ${accuracy} % of other digits.`,
  assumed: (attack) => `200 of the people are planted${attack ? ": real digits, with a serial number of 40 in a column of their own" : ", without a digit"}. 1,238 have real digits. Looks are planned beforehand (1, 2, 3, 5, 8 … 1,024 runs) and share a chance of error of 5 %. “Shown” assumes a run of these q and T with some noise. “Refuted” assumes less: that planted people are found independently, as they ${attack ? "nearly are where the claim holds: each pull is clipped to the same length" : "are where the claim holds"}.`,
};

const zh = {
  start: "开始攻击", again: "再猜一次", open: "尚未猜",
  sentence: "1,438 人训练一个数字识别模型：每步取其中 {sample_rate}，共 {steps} 步，噪声 σ = {noise_multiplier}，裁剪到 C = {max_grad_norm}。其中 200 人各由一枚硬币决定是否参加。攻击者要问：谁参加了？",
  guess: "先猜一猜：在图中画出攻击能走多远，或输入：ε ≥ {guess}。", guessed: (guess) => `您猜的是 ε ≥ ${guess}。`, draw: "← 画出它能走多远",
  labels: { sample_rate: "每步抽取的比例", steps: "步数", noise_multiplier: "噪声乘子 sigma", max_grad_norm: "裁剪范数 C", guess: "您猜的 epsilon" },
  members: "100 名成员", others: "100 名其他人", found: "被找出", accused: "被误指", allowed: (count) => `○ 按证明，长期平均至多 ${count} 名`, claims: (count) => `○ 按声明，长期平均至多 ${count} 名`,
  proved: (epsilon) => `已证明：ε ≤ ${epsilon}`, claimed: (epsilon) => `声明：ε ≤ ${epsilon}`, shown: (epsilon) => `已显示：ε ≥ ${epsilon}`,
  far: "已显示：超过声明的 4 倍", mine: (guess) => `您的猜测：${guess}`, axis: "δ = 10⁻⁵ 时的 ε", picture: "攻击已显示的 epsilon，以及已证明或声明的 epsilon",
  program: "程序", programs: { "": "正确", mean: "裁剪平均值而非每个人", bare: "噪声为 σ 而非 σ·C", twice: "噪声除了两次", seed: "每步用同一种子" },
  attack: "攻击",
  attacks: { "": "最坏情形", serial: "序列号", model: "序列号，仅有模型" },
  about: { program: {
    "": "每个人的梯度裁剪到 C，总和加上标准差为 σ·C 的噪声，每一批由硬币抽取。",
    mean: "裁剪的是一批的平均梯度，如 loss.mean() 之后那样。一个人的影响可达 C 的十倍。",
    bare: "噪声的标准差是 σ，没有乘以裁剪范数。",
    twice: "噪声先除以批的大小再加入，带噪的总和又除了一次。",
    seed: "种子在循环内设定。两步的噪声相同，相减只剩下人。",
  }, attack: {
    "": "200 人中每人的梯度独占一个坐标且长于 C，这是定理所允许的最坏情形。攻击者看到每一步带噪的总和。",
    serial: "表格中的错误：200 个数字各有一列自己的序列号。攻击者看到每一步带噪的总和。",
    model: "同一张表。攻击者只能用每个数字询问训练好的模型：带序列号与不带序列号。",
  } },
  waits: "尚未开始攻击。", practises: (n) => `攻击者在练习，12 次中的第 ${n} 次：若可误指 100 名其他人中的 5 名，该指认谁？`,
  nothing: "到目前为止，仅凭运气也能指认成这样。",
  part: (percent, epsilon) => `攻击已显示所证明的 ${percent} %。再多运行还可显示更多，但不会越过 ε = ${epsilon}；这样的攻击 100 次中至多 5 次例外。`,
  behind: (percent, epsilon) => `攻击已显示声明 ε ≤ ${epsilon} 的 ${percent} %。声明是假的，而这种攻击尚未显示出来。`,
  refuted: (epsilon, run, seconds) => `第 ${run} 次运行即被推翻，用时 ${seconds} 秒。声明 ε ≤ ${epsilon} 是假的：若成立，不可能找出这么多成员。`,
  runs: (runs, rate, next, accuracy) => `${runs} 次运行，每秒 ${rate} 次。${next ? `下次查看在第 ${next} 次` : "已完成最后一次查看"}。模型对其他数字的正确率为 ${accuracy} %。`,
  assumed: (attack) => `其中 200 人是人为放入的${attack ? "：真实的数字，另有一列值为 40 的序列号" : "，没有数字"}。另 1,238 人有真实的手写数字。查看的时刻事先定好（第 1、2、3、5、8 … 1,024 次），共用 5 % 的出错概率。“已显示”假定运行具有这样的 q 和 T 以及某个噪声。“推翻”的假定更少：放入的人被找出是相互独立的，声明成立时${attack ? "近乎如此：每人的作用都裁剪到同样的长度" : "确实如此"}。`,
};

export const MESSAGES = inBoth(Object.fromEntries(Object.keys(en).map((name) => [name, [en[name], zh[name]]])));
