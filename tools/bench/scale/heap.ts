/** Puts an item into a heap, an array whose first item comes before all others. */
export function addToHeap<T>(heap: T[], item: T, isBefore: (a: T, b: T) => boolean): void {
  let at = heap.push(item) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    if (!isBefore(item, heap[above]!)) break
    heap[at] = heap[above]!
    at = above
  }
  heap[at] = item
}

/** Takes the first item out of a heap; `undefined` when it is empty. */
export function takeFromHeap<T>(heap: T[], isBefore: (a: T, b: T) => boolean): T | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return first
  let at = 0
  for (let below = 1; below < heap.length; below = 2 * at + 1) {
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1
    if (!isBefore(heap[below]!, last)) break
    heap[at] = heap[below]!
    at = below
  }
  heap[at] = last
  return first
}
