// Texts of the page in both languages; {name} is a draggable number.
import { bound, digits, down, people, text } from "./numbers.js";

// Above this epsilon, the guarantee is nearly empty.
const VAST = 30;
const times = (value) => (value > VAST ? text(down(Math.exp(Math.min(value, 700)), 1)) : bound(Math.exp(value)));

/** Texts shared by all browser-drawn pages. @type {{[name: string]: [any, any]}} */
export const SHARED = {
  code: ["en", "zh"], other: ["中文", "English"], how: ["Drag, press arrow keys, or press Enter to type", "拖动，按方向键，或按回车键输入"],
  members: ["100 people in the data", "数据中的 100 人"], others: ["100 people not in it", "不在其中的 100 人"],
  found: ["identified", "被认出"], accused: ["wrongly accused", "被误指"],
  unread: [(parts) => (parts.length ? `We could not read ${parts.join(", ")} in the link, so this is not what it was meant to show.` : ""),
    (parts) => (parts.length ? `链接中未读懂 ${parts.join("，")}，所以这里不是它要显示的内容。` : "")],
  share: [(value) => `${digits(100 * value, 12)} percent`, (value) => `百分之 ${digits(100 * value, 12)}`],
};

/** Return the shared texts and a table by language. */
export const inBoth = (table) => {
  const column = (i) => Object.fromEntries(Object.entries({ ...SHARED, ...table }).map(([name, both]) => [name, both[i]]));
  return { en: column(0), zh: column(1) };
};

export const MESSAGES = inBoth({
  names: [{
    noise_multiplier: "Noise multiplier sigma", sample_rate: "Sample rate q", delta: "delta", T: "Steps T", budget: "Budget epsilon",
    rate: "Share of outsiders wrongly accused", N: "Records N", B: "Batch size B", curve: "PLD curve: epsilon at T, set by sigma", Tline: "Line of T", budgetline: "Line of the budget",
  }, {
    noise_multiplier: "噪声乘数 sigma", sample_rate: "采样率 q", delta: "delta", T: "步数 T", budget: "预算 epsilon",
    rate: "被误指的外人所占的比例", N: "记录数 N", B: "批次大小 B", curve: "PLD 曲线：T 处的 epsilon，由 sigma 决定", Tline: "T 线", budgetline: "预算线",
  }],
  title: ["How much can training reveal about one person?", "训练会泄露一个人多少信息？"],
  sentence: ["A model is trained with DP-SGD in {T} {unit}. Each step uses {sampling} and adds noise σ = {noise_multiplier}. Then, with δ = {delta}, the privacy loss is at most",
    "用 DP-SGD 训练一个模型，共 {T} 步。每一步使用{sampling}，并加噪声 σ = {noise_multiplier}。于是在 δ = {delta} 时，隐私损失至多为"],
  unit: [(T) => (T === 1 ? "step" : "steps"), () => ""], byCounts: ["about {B} of {N} records", "{N} 条记录中的约 {B} 条"],
  chance: [[["a random ", " of the records"], ["", " of the records"]], [["随机的 ", " 的记录"], [" ", " 的记录"]]],
  own: [{ mechanism: "Gaussian noise,", sampling: "Poisson sampling," }, { mechanism: "高斯噪声，", sampling: "泊松采样，" }],
  kinds: [{ mechanism: "Noise", sampling: "Batches", adjacency: "Neighbours" }, { mechanism: "噪声", sampling: "批次", adjacency: "相邻数据集" }],
  prove: ["Certificate and details", "证书与细节"], away: ["The library is away: this page goes on by itself.", "程序库不在：本页自行继续。"],
  waiting: ["the library computes", "程序库正在计算"], agrees: ["confirmed by the Python library", "Python 程序库核对一致"],
  disagrees: [(ends) => `The library says ${ends}, and its numbers stand. Please report it with the address of this page.`,
    (ends) => `程序库给出 ${ends}，以它为准。请附上本页地址报告此事。`],
  between: [(lower) => `upper bound proved; ε is no less than ${lower}`, (lower) => `上界已证明，且不小于 ${lower}`],
  above: ["upper bound proved", "上界已证明"],
  claim: [(claimed, least, broken) => `Most tools would report ${claimed}, which assumes random batches. ${broken ? `These batches lose at least ${least}.` : "Yours are drawn otherwise."}`,
    (claimed, least, broken) => `多数工具会报告 ${claimed}，那是随机批次的值。${broken ? `这种批次至少损失 ${least}。` : "这里的批次并非如此。"}`],
  python: ["Copy Python", "复制 Python"], copied: ["Copied", "已复制"],
  meet: ["Reach the budget at this T by changing", "在此 T 处满足预算，可改"], claimed: ["as if Poisson", "当作泊松"],
  adjacencies: [{ add_remove: "a record added or removed", zero_out: "a record zeroed out", replace_one: "a record replaced" },
    { add_remove: "增删一条记录", zero_out: "一条记录置零", replace_one: "替换一条记录" }],
  lasts: ["With a budget of ε = {budget} you can train for {go}.", "预算 ε = {budget} 可训练 {go}。"],
  attacker: ["An attacker who looks at the model and wrongly accuses {rate} of outsiders ", "攻击者查看模型，若误指数据之外 {rate} 的人，"],
  pin: ["Pin to compare", "固定以比较"], unpin: ["Unpin", "取消固定"], preset: ["Published runs", "已发表的设置"],
  log: ["logarithmic scale", "改为对数刻度"], linear: ["linear scale", "改为线性刻度"], pull: ["drag the curve; σ follows", "拖动曲线：σ 随之变化"],
  asCounts: ["Show as batch size", "改用批次大小"], asRate: ["Show as a share q", "改用比例 q"],
  picture: ["epsilon against the number of steps", "epsilon 随步数的变化"], numbers: ["All accountants", "全部会计方法"],
  table: [["accountant", "ε at T", "steps within the budget", "what it is"], ["会计方法", "T 处的 ε", "预算内的步数", "是什么"]],
  printed: [(rows, ours) => `Printed: ${rows}. Proved here: ${ours}.`,
    (rows, ours) => `论文发表：${rows}。此处证明：${ours}。`],
  proved: [(count) => `proved to ${count} digits`, (count) => `已证明 ${count} 位数字`],
  fits: ["proved: the whole difference fits into δ", "已证明：全部差别都在 δ 之内"],
  open: [(name) => `upper bound by ${name}; the exact value is not decided in the browser`, (name) => `由 ${name} 给出上界；浏览器未定出精确值`],
  factor: [
    (value, adjacency) => `${{ replace_one: "Replacing", zero_out: "Zeroing out" }[adjacency] ?? "Adding"} one person's record ${value > VAST
      ? `could make an outcome more than ${times(value)} times as likely: next to nothing is promised.`
      : `makes no outcome more than ${times(value)} times as likely (apart from a chance δ).`}`,
    (value, adjacency) => `${{ replace_one: "替换", zero_out: "置零" }[adjacency] ?? "加入"}一个人的记录${value > VAST
      ? `可使某个结果的概率变为 ${times(value)} 倍以上：几乎没有任何保证。`
      : `，不会使任何结果的概率超过 ${times(value)} 倍（概率 δ 除外）。`}`,
  ],
  lasting: [(steps) => (steps === "0" ? "not a single step" : `${steps} step${/(^|\s)1$/.test(steps) ? "" : "s"}`), (steps) => (steps === "0" ? "不足一步" : `${steps} 步`)],
  atLeast: [(steps) => `at least ${steps}`, (steps) => `至少 ${steps}`], moreThan: [(steps) => `more than ${steps}`, (steps) => `超过 ${steps}`],
  finds: [(share) => (share === null ? "is not bounded here." : `finds at most ${people(share)} in 100 of the people whose data was used.`),
    (share) => (share === null ? "此处没有上界。" : `则数据中的每 100 人至多认出 ${people(share)} 人。`)],
  right: [
    (odds) => (odds < 1.05 ? "An accusation is hardly better than a guess." : `If half of these people were in the data, an accusation would be right at most ${people(odds / (1 + odds))}\u202f% of the time.`),
    (odds) => (odds < 1.05 ? "指认几乎不比瞎猜好。" : `假如一半人在数据中，指认的正确率至多为 ${people(odds / (1 + odds))}\u202f%。`),
  ],
  than: [(ratio, epsilon, differs) => `${ratio} × the pinned ${epsilon}${differs ? ` (${differs})` : ""}`,
    (ratio, epsilon, differs) => `是固定设置 ${epsilon} 的 ${ratio} 倍${differs ? ` (${differs})` : ""}`],
  spoken: [(epsilon, T) => `epsilon at most ${epsilon} after ${T} steps`, (epsilon, T) => `${T} 步之后 epsilon 至多为 ${epsilon}`],
  curve: [(epsilon, run) => `epsilon at most ${epsilon} at T ${run.T}, sigma ${run.noise_multiplier}`,
    (epsilon, run) => `T ${run.T}、sigma ${run.noise_multiplier} 时 epsilon 至多为 ${epsilon}`],
});
