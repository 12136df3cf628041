/** Map of at most `most` entries, which drops the oldest. */
export class Cache extends Map {
  constructor(most) {
    super();
    this.most = most;
  }

  set(key, value) {
    super.set(key, value);
    if (this.size > this.most) this.delete(this.keys().next().value);
    return this;
  }
}
