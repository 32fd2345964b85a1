/** Stands for the other side, which takes up to 16 records at a time. */
export function receive(count) {
  if (count > 16) throw new Error('429 too many requests, try again later')
  return count
}
