// Texts of the page in both languages; {name} is a draggable number.
import { inBoth } from "../page/messages.js";
import { bound, digits, people, power, text } from "../page/numbers.js";

/** Return a probability, given by its logarithm and rounded up, even where it underflows. */
export function probability(log) {
  if (log === -Infinity) return "0";
  return log > -690 ? bound(Math.exp(log)) : power(Math.ceil(log / Math.LN10));
}

const sign = ({ exact }) => (exact ? "=" : "≤");

const released = [
  { number: "released number", whole: "released whole number", answer: "reported answer" },
  { number: "发布的数", whole: "发布的整数", answer: "上报的回答" },
];
const axes = (code) => ({
  outputs: ({ pair: { law: { outputs } } }) => ({ x: released[Number(code === "zh")][outputs?.label] ?? outputs?.label[code] ?? "", y: "" }),
  loss: () => ({ x: code === "zh" ? "隐私损失 L" : "privacy loss L", y: "" }), delta: () => ({ x: "ε", y: "δ" }),
  renyi: () => ({ x: code === "zh" ? "阶 α" : "order α", y: "nats" }),
  tradeoff: () => (code === "zh" ? { x: "误报率", y: "漏报率" } : { x: "wrongly accused", y: "missed" }),
});

export const MESSAGES = inBoth({
  picture: ["five pictures of one pair of neighbouring outputs", "一对相邻输出的五幅图"],
  sentence: [
    "{mechanism} with {parameters} protects one record {{adjacency}{direction}.} {At ε = {epsilon}},",
    "{mechanism}，{parameters}，保护一条{{adjacency}的记录{direction}。}{在 ε = {epsilon} 处}，",
  ],
  order: ["From the Rényi divergence of order α = {order} alone, ", "仅由 α = {order} 阶的 Rényi 散度，"],
  attacker: ["An attacker who wrongly accuses {false_positive_rate} of outsiders ", "攻击者若误指数据之外 {false_positive_rate} 的人，"],
  adjacencies: [{ add_remove: "added or removed", zero_out: "zeroed out", replace_one: "replaced" }, { add_remove: "增加或删除", zero_out: "置零", replace_one: "替换" }],
  directions: [{ remove: "P has the record", add: "Q has the record" }, { remove: "P 含该记录", add: "Q 含该记录" }],
  and: [", ", "，"], choose: ["Mechanism", "机制"], neighbours: ["Neighbours", "相邻数据集"], whose: ["Who has the record", "谁含有该记录"],
  example: ["What is run", "运行的内容"], base: ["Base", "基础机制"],
  laws: [
    { remove: ["P: record in", "Q: record out"], add: ["P: record out", "Q: record in"], replace: ["P: one record", "Q: another"] },
    { remove: ["P：含该记录", "Q：不含"], add: ["P：不含该记录", "Q：含"], replace: ["P：一条记录", "Q：另一条"] },
  ],
  handles: [{
    outputs: "Scaled law: privacy loss epsilon", loss: "Privacy loss epsilon, among the losses", delta: "Privacy loss epsilon, below delta",
    renyi: "Rényi order alpha", tradeoff: "Share wrongly accused",
  }, {
    outputs: "放大的分布：隐私损失 epsilon", loss: "隐私损失 epsilon（损失图）", delta: "隐私损失 epsilon（delta 图）",
    renyi: "Rényi 阶 alpha", tradeoff: "误报率",
  }],
  titles: [{
    outputs: (view) => `δ ${sign(view)} ${view.delta}: P above eᵋ·Q`,
    loss: ({ tail }) => `Loss > ε in about ${text(digits(100 * tail, 3))}\u202f% of outcomes`,
    delta: (view) => `δ ${sign(view)} ${view.delta}`,
    renyi: () => "Divergence (dashed), and its ε",
    tradeoff: ({ true_positive_rate }) => `At most ${people(true_positive_rate)}\u202f% identified`,
  }, {
    outputs: (view) => `δ ${sign(view)} ${view.delta}：P 高出 eᵋ·Q`,
    loss: ({ tail }) => `损失超过 ε 的结果约占 ${text(digits(100 * tail, 3))}\u202f%`,
    delta: (view) => `δ ${sign(view)} ${view.delta}`,
    renyi: () => "Rényi 散度（虚线）及其 ε",
    tradeoff: ({ true_positive_rate }) => `至多认出 ${people(true_positive_rate)}\u202f%`,
  }],
  axes: [axes("en"), axes("zh")],
  none: [(reason) => ` No densities to draw: ${reason}.`, (reason) => `没有可画的密度：${reason}。`], guessing: ["guessing", "瞎猜"],
  proves: [({ converted }) => (converted === Infinity ? "no ε." : `ε ≤ ${bound(converted)}.`), ({ converted }) => (converted === Infinity ? "得不出 ε。" : `ε ≤ ${bound(converted)}。`)],
  proof: [
    ({ exact, waiting }) => (waiting ? "the library is asked …" : exact ? "exact" : "upper bound"),
    ({ exact, waiting }) => (waiting ? "正在询问程序库……" : exact ? "精确值" : "上界"),
  ],
  real: [" Dashed: a real pair.", "虚线：一个真实的对。"],
  elsewhere: ["Only the running explorer draws this one: dplearn app.", "只有运行中的演示能画出它：dplearn app。"],
  assumed: [(conditions) => `Assumes: ${conditions}.`, (conditions) => `成立条件：${conditions}。`],
  finds: [
    (share, rate) => `finds at most ${people(share)} in 100 insiders; guessing finds ${people(rate)}.`,
    (share, rate) => `则数据中的每 100 人至多认出 ${people(share)} 人。瞎猜可认出 ${people(rate)} 人。`,
  ],
  heard: [
    (view) => `delta ${view.exact ? "is" : "at most"} ${view.delta} at epsilon ${view.state.epsilon}`,
    (view) => `在 epsilon ${view.state.epsilon} 处，delta ${view.exact ? "为" : "至多为"} ${view.delta}`,
  ],
});
