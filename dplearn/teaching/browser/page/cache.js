/** Map that drops its oldest entry beyond 3000 entries. */
export class Cache extends Map {
  set(key, value) {
    if (this.size >= 3000) this.delete(this.keys().next().value);
    return super.set(key, value);
  }
}
