import { isOver, stopwatch } from './deadline.ts'

/** Number of handles of each kind that keep the process alive; before the tests these include the standard streams. */
export type Handles = ReadonlyMap<string, number>

/** An aborted command has a second to end, and half of one for its output; nobody waits for it. */
const graceMs = 2_000
const pollMs = 10

/** Counts the handles that keep the event loop alive; those that are `unref`ed do not. */
export function openHandles(): Handles {
  // The standard streams are made when first touched.
  void [process.stdout, process.stderr]
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

function newSince(before: Handles): readonly string[] {
  return [...openHandles()]
    .map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => (count === 1 ? kind : `${count} × ${kind}`))
}

/**
 * Handles that are open and were not open before. Handles that are closing have two seconds to do so, longer on a busy machine
 * (`isOver`). Empty if all are closed.
 */
export async function leftOpen(before: Handles): Promise<readonly string[]> {
  const elapsed = stopwatch()
  let left = newSince(before)
  while (left.length > 0 && !isOver(elapsed(), graceMs)) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    left = newSince(before)
  }
  return left
}
