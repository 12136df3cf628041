// All that the page says, in both languages; a number that can be dragged stands as {its name}.
import { bound, digits, people, power, text } from "../page/numbers.js";

/** A probability given by its logarithm, rounded up: it may be far below what a number can be. */
export function probability(log) {
  if (log === -Infinity) return "0";
  return log > -690 ? bound(Math.exp(log)) : power(Math.ceil(log / Math.LN10));
}

/** A probability that is no bound, to three digits. */
const plain = (x) => text(digits(x, 3));
const sign = ({ exact }) => (exact ? "=" : "≤");

const en = {
  code: "en", other: "中文", link: "Copy link", copied: "Copied", how: "Drag, press arrow keys, or press Enter to type",
  picture: "five pictures of one pair of neighbouring outputs",
  sentence: "{mechanism} with {parameters} hides one record {{adjacency}{direction}.} {At ε = {epsilon}},",
  order: "At this δ, Rényi order α = {order} proves ",
  attacker: "An attacker who may accuse {false_positive_rate} of the others ",
  adjacencies: { add_remove: "added or removed", zero_out: "zeroed out", replace_one: "replaced" },
  directions: { remove: "P has the record", add: "Q has the record" },
  and: ", ", members: "100 members", others: "100 others", found: "found", accused: "accused",
  choose: "Mechanism", neighbours: "Neighbours", whose: "Who has the record", example: "What is run", base: "Base",
  laws: { remove: ["P: record in", "Q: record out"], add: ["P: record out", "Q: record in"], replace: ["P: one record", "Q: another"] },
  handles: {
    outputs: "Scaled law: privacy loss epsilon", loss: "Privacy loss epsilon, among the losses", delta: "Privacy loss epsilon, below delta",
    renyi: "Rényi order alpha", tradeoff: "False alarms",
  },
  titles: {
    outputs: (view) => `δ ${sign(view)} ${view.delta}: P above eᵋ·Q`,
    loss: ({ tail }) => `Loss L > ε with probability ≈ ${plain(tail)}`,
    delta: (view) => `δ ${sign(view)} ${view.delta}`,
    renyi: () => "Rényi divergence, ε from it",
    tradeoff: ({ true_positive_rate }) => `Caught: at most ${people(true_positive_rate)}\u202f%`,
  },
  axes: {
    outputs: ({ pair }) => ({ x: en.released[pair.law.outputs?.label] ?? pair.law.outputs?.label.en ?? "", y: "" }),
    loss: () => ({ x: "privacy loss L", y: "" }), delta: () => ({ x: "ε", y: "δ" }),
    renyi: () => ({ x: "order α", y: "nats" }), tradeoff: () => ({ x: "false alarms", y: "missed" }),
  },
  released: { number: "released number", whole: "released whole number", answer: "reported answer" },
  none: (reason) => ` No densities to draw: ${reason}.`, guessing: "guessing",
  proves: ({ converted }) => (converted === Infinity ? "no ε." : `ε ≤ ${bound(converted)}.`),
  proof: ({ exact, waiting }) => (waiting ? "the library is asked …" : exact ? "exact" : "upper bound"),
  real: " Dashed: a real pair.",
  elsewhere: "Only the running explorer draws this one: dplearn app.",
  assumed: (conditions) => `True if: ${conditions}.`,
  unread: (parts) => `Not read: ${parts.join(", ")}.`,
  finds: (share, rate) => `finds at most ${people(share)}\u202f% of the members. Guessing finds ${people(rate)}\u202f%.`,
  right: () => "",
  heard: (view) => `delta ${view.exact ? "is" : "at most"} ${view.delta} at epsilon ${view.state.epsilon}`,
  share: (value) => `${digits(100 * value, 12)} percent`,
};

const zh = {
  ...en,
  code: "zh", other: "English", link: "复制链接", copied: "已复制", how: "拖动，按方向键，或按回车键输入",
  picture: "一对相邻输出的五幅图",
  sentence: "{mechanism}，{parameters}，隐藏一条{{adjacency}的记录{direction}。}{在 ε = {epsilon} 处}，",
  order: "在此 δ 处，Rényi 阶 α = {order} 证明 ",
  attacker: "若攻击者可误指 {false_positive_rate} 的其他人，",
  adjacencies: { add_remove: "增加或删除", zero_out: "置零", replace_one: "替换" },
  directions: { remove: "P 含该记录", add: "Q 含该记录" },
  and: "，", members: "100 名成员", others: "100 名其他人", found: "被找出", accused: "被误指",
  choose: "机制", neighbours: "相邻数据集", whose: "谁含有该记录", example: "运行的内容", base: "基础机制",
  laws: { remove: ["P：含该记录", "Q：不含"], add: ["P：不含该记录", "Q：含"], replace: ["P：一条记录", "Q：另一条"] },
  handles: {
    outputs: "放大的分布：隐私损失 epsilon", loss: "隐私损失 epsilon（损失图）", delta: "隐私损失 epsilon（delta 图）",
    renyi: "Rényi 阶 alpha", tradeoff: "误报率",
  },
  titles: {
    outputs: (view) => `δ ${sign(view)} ${view.delta}：P 高出 eᵋ·Q`,
    loss: ({ tail }) => `损失 L > ε 的概率 ≈ ${plain(tail)}`,
    delta: (view) => `δ ${sign(view)} ${view.delta}`,
    renyi: () => "Rényi 散度，及由其得到的 ε",
    tradeoff: ({ true_positive_rate }) => `至多抓到 ${people(true_positive_rate)}\u202f%`,
  },
  axes: {
    ...en.axes,
    outputs: ({ pair }) => ({ x: zh.released[pair.law.outputs?.label] ?? pair.law.outputs?.label.zh ?? "", y: "" }),
    loss: () => ({ x: "隐私损失 L", y: "" }), renyi: () => ({ x: "阶 α", y: "nats" }),
    tradeoff: () => ({ x: "误报率", y: "漏报率" }),
  },
  released: { number: "发布的数", whole: "发布的整数", answer: "上报的回答" },
  none: (reason) => `没有可画的密度：${reason}。`, guessing: "瞎猜",
  proves: ({ converted }) => (converted === Infinity ? "不出任何 ε。" : `ε ≤ ${bound(converted)}。`),
  proof: ({ exact, waiting }) => (waiting ? "正在询问程序库……" : exact ? "精确值" : "上界"),
  real: "虚线：一个真实的对。",
  elsewhere: "只有运行中的演示能画出它：dplearn app。",
  assumed: (conditions) => `成立条件：${conditions}。`,
  unread: (parts) => `未读懂：${parts.join("，")}。`,
  finds: (share, rate) => `至多能找出 ${people(share)}\u202f% 的成员。瞎猜能找出 ${people(rate)}\u202f%。`,
  heard: (view) => `在 epsilon ${view.state.epsilon} 处，delta ${view.exact ? "为" : "至多为"} ${view.delta}`,
  share: (value) => `百分之 ${digits(100 * value, 12)}`,
};

export const MESSAGES = { en, zh };
