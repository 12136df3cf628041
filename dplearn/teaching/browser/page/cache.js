/** Map that drops its oldest entry when it has more than `most` entries. */
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
