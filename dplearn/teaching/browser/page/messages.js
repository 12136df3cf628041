// All that the page says, in both languages; a number that can be dragged stands as {its name}.
import { bound, digits, down, people, text } from "./numbers.js";

// Above this factor an epsilon rules next to nothing out.
const VAST = 30;

const en = {
  code: "en",
  names: {
    noise_multiplier: "Noise multiplier sigma", sample_rate: "Sample rate q", delta: "delta", T: "Steps T", budget: "Budget epsilon",
    rate: "False alarms", N: "Records N", B: "Expected batch B", curve: "PLD curve: epsilon at T, met by sigma",
  },
  sentence: "Noise σ = {noise_multiplier} in each of {T} steps; a step sees {sampling}. At δ = {delta},",
  chance: [["each record with chance ", ""], ["a share ", " of the records"]], byCounts: "about {B} of {N} records",
  assumed: "{mechanism} {sampling} {adjacency}",
  own: { mechanism: "Gaussian noise,", sampling: "Poisson sampling," }, kinds: { mechanism: "Noise", sampling: "Batches" },
  then: ["After", "steps"], schedule: "A schedule: σ, q, T of each further phase, as in 2, 0.02, 500; 1, 0.01, 99",
  prove: "Prove", waiting: "the library computes", agrees: "the library agrees",
  disagrees: (ends) => `The library says ${ends}, and its numbers stand. Please report it with the address of this page.`,
  between: (lower) => `proved, and no less than ${lower}`, above: "proved from above",
  claim: (claimed, least, broken) => `A Poisson accountant would claim ε = ${claimed}. ${broken ? `These batches lose at least ${least}.` : "That is no proof for these batches."}`,
  meet: "Meet the budget at T by", claimed: "Poisson claim",
  adjacencies: { add_remove: "a record added or removed", zero_out: "a record zeroed out", replace_one: "a record replaced" },
  unsampled: "This page answers for a replaced record where q = 100 %; the explorer always.",
  lasts: "A budget of ε = {budget} lasts {go}.", attacker: "Accusing {rate} of the others, an attacker ",
  members: "100 members", others: "100 others", found: "found", accused: "accused",
  pin: "Pin", unpin: "Unpin", link: "Link", copied: "Copied", other: "中文",
  preset: "Published runs", log: "log", linear: "linear", scaleT: "Scale of T", scaleEpsilon: "Scale of ε",
  pull: "pull: σ answers", how: "Drag, press arrow keys, or press Enter to type",
  asCounts: "Say it as B of N records", asRate: "Say it as a chance q", picture: "epsilon against the number of steps",
  numbers: "More", table: ["accountant", "ε at T", "the budget lasts", "what it is"],
  files: { csv: "CSV", svg: "SVG", python: "Copy Python", shell: "Copy command" }, done: "Copied",
  guess: "Guess", guessing: "Draw with the pointer how ε grows; then look.", truth: "Show the truth",
  printed: (row) => `${row.source} prints ${row.value}`,
  unread: (parts) => `Not read from the address: ${parts.join(", ")}. The run shown here is another one.`,
  proved: (count) => `proved, ${count} digits`, fits: "proved: the whole difference fits into δ",
  open: (name) => `by ${name}; PLD is open here`,
  factor: (value) =>
    value > VAST
      ? `One person's record could make an outcome more than ${text(down(Math.exp(Math.min(value, 700)), 1))} times as likely: next to nothing is promised.`
      : `One record makes any outcome at most ${bound(Math.exp(value))} × as likely, up to δ.`,
  lasting: (steps) => (steps === "0" ? "not one step" : `${steps} step${/(^|\s)1$/.test(steps) ? "" : "s"}`),
  atLeast: (steps) => `at least ${steps}`, moreThan: (steps) => `more than ${steps}`,
  finds: (share) => (share === null
    ? "is not bounded here: the library can bound it."
    : `finds at most ${people(share)}\u202f% of the members.`),
  right: (odds) => (odds < 1.05
    ? "An accusation says next to nothing."
    : `Were half of all people members, an accusation would be right in at most ${people(odds / (1 + odds))}\u202f% of cases, not 50\u202f%.`),
  than: (ratio, epsilon, differs) => `${ratio} × the pinned ${epsilon}${differs ? ` (${differs})` : ""}`,
  spoken: (epsilon, T) => `epsilon at most ${epsilon} after ${T} steps`,
  curve: (epsilon, run) => `epsilon at most ${epsilon} at T ${run.T}, sigma ${run.noise_multiplier}`,
  share: (value) => `${digits(100 * value, 12)} percent`,
};

const zh = {
  ...en,
  code: "zh",
  names: {
    noise_multiplier: "噪声乘数 sigma", sample_rate: "采样率 q", delta: "delta", T: "步数 T", budget: "预算 epsilon",
    rate: "误报率", N: "记录数 N", B: "期望批次 B", curve: "PLD 曲线：T 处的 epsilon，由 sigma 满足",
  },
  sentence: "共 {T} 步，每一步加噪声 σ = {noise_multiplier}，{sampling}。于是在 δ = {delta} 时，",
  chance: [["每条记录以 ", " 的概率进入一步"], ["用到 ", " 的记录"]], byCounts: "平均用到 {N} 条记录中的 {B} 条",
  assumed: "{mechanism} {sampling} {adjacency}",
  own: { mechanism: "高斯噪声，", sampling: "泊松采样，" }, kinds: { mechanism: "噪声", sampling: "批次" },
  then: ["", "步之后"], schedule: "分段计划：其后各段的 σ, q, T，例如 2, 0.02, 500; 1, 0.01, 99",
  prove: "证明", waiting: "程序库正在计算", agrees: "程序库核对一致",
  disagrees: (ends) => `程序库给出 ${ends}，以它为准。请附上本页地址报告此事。`,
  between: (lower) => `已证明，且不小于 ${lower}`, above: "已从上方证明",
  claim: (claimed, least, broken) => `泊松会计会声称 ε = ${claimed}。${broken ? `这种批次至少损失 ${least}。` : "对这种批次，那不是证明。"}`,
  meet: "在 T 处满足预算，可改", claimed: "泊松会计的说法",
  adjacencies: { add_remove: "增删一条记录", zero_out: "一条记录置零", replace_one: "替换一条记录" },
  unsampled: "替换一条记录：本页只在 q = 100 % 时回答，探索器总能回答。",
  lasts: "预算 ε = {budget} 可用 {go}。", attacker: "若攻击者可误指 {rate} 的其他人，",
  members: "100 名成员", others: "100 名其他人", found: "被找出", accused: "被误指",
  pin: "固定以比较", unpin: "取消固定", link: "复制链接", copied: "已复制", other: "English",
  preset: "已发表的设置", log: "对数", linear: "线性", scaleT: "T 轴的刻度", scaleEpsilon: "ε 轴的刻度",
  pull: "拉动曲线：σ 随之变化", how: "拖动，按方向键，或按回车键输入",
  asCounts: "改用 N 条记录中的 B 条", asRate: "改用概率 q", picture: "epsilon 随步数的变化",
  numbers: "更多", table: ["会计方法", "T 处的 ε", "预算可用", "是什么"],
  files: { csv: "CSV", svg: "SVG", python: "复制 Python", shell: "复制命令" }, done: "已复制",
  guess: "先猜一猜", guessing: "用指针画出 ε 如何增长，然后看答案。", truth: "看答案",
  printed: (row) => `${row.source} 给出 ${row.value}`,
  unread: (parts) => `地址中未读懂：${parts.join("，")}。这里显示的是另一设置。`,
  proved: (count) => `已证明 ${count} 位数字`, fits: "已证明：全部差别都在 δ 之内",
  open: (name) => `由 ${name} 给出；PLD 在此尚无结论`,
  factor: (value) =>
    value > VAST
      ? `一个人的记录可使某个结果的概率变为 ${text(down(Math.exp(Math.min(value, 700)), 1))} 倍以上：几乎没有任何保证。`
      : `除去 δ，任何结果的概率都不会因为用了一个人的记录而变为 ${bound(Math.exp(value))} 倍以上。`,
  lasting: (steps) => (steps === "0" ? "不足一步" : `${steps} 步`),
  atLeast: (steps) => `至少 ${steps}`, moreThan: (steps) => `超过 ${steps}`,
  finds: (share) => (share === null
    ? "此处页面给不出上界，程序库可以。"
    : `至多能找出 ${people(share)}\u202f% 的成员。`),
  right: (odds) => (odds < 1.05
    ? "指认几乎不说明什么。"
    : `假如一半人是成员，指认的正确率至多为 ${people(odds / (1 + odds))}\u202f%，瞎猜为 50\u202f%。`),
  than: (ratio, epsilon, differs) => `是固定设置 ${epsilon} 的 ${ratio} 倍${differs ? ` (${differs})` : ""}`,
  spoken: (epsilon, T) => `${T} 步之后 epsilon 至多为 ${epsilon}`,
  curve: (epsilon, run) => `T ${run.T}、sigma ${run.noise_multiplier} 时 epsilon 至多为 ${epsilon}`,
  share: (value) => `百分之 ${digits(100 * value, 12)}`,
};

export const MESSAGES = { en, zh };
