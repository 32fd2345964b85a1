import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { restoreTree } from '../../../src/workspace/tree/restoreTree.ts'
import { readChanges } from '../../../src/workspace/tree/treeChanges.ts'
import { MemorySnapshots } from '../../../../stores/src/memory/memorySnapshots.ts'
import { snapshotsOf } from '../../../../../test/support/snapshotsOf.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'
import { treeFolder } from './treeFolder.ts'

/** A signal that lets so many steps pass. */
function cutOffAfter(steps: number): { readonly signal: AbortSignal; readonly isOver: () => boolean } {
  let left = steps
  const { signal } = new AbortController()
  const throwIfAborted = (): void => {
    if (left-- <= 0) throw new Error('cut off')
  }
  return { signal: Object.defineProperty(signal, 'throwIfAborted', { value: throwIfAborted }), isOver: () => left < 0 }
}

async function changedFolder(context: CaseContext) {
  const snapshots = snapshotsOf(new MemorySnapshots())
  const made = treeFolder(context, { 'a.txt': 'one', 'b/x': 'x', 'b/y/z': 'z', c: 'c', 'd.txt': 'd' }, { snapshots })
  symlinkSync('a.txt', join(made.dir, 'l'))
  mkdirSync(join(made.dir, 'e'))
  const before = made.seen()
  // Each kind becomes each other.
  await made.run(
    'echo two > a.txt; rm -r b; echo b > b; rm c; mkdir -p c/in; echo > c/in/n; rm l; mkdir l; rmdir e; ln -s x e',
  )
  await made.run('chmod 755 d.txt; mkdir new; echo > new/n')
  const restore = async (index: number, signal: AbortSignal) => {
    const receipt = made.done[index]!.receipt as { readonly tree: string }
    const kept = (await readChanges(receipt.tree, snapshots))!
    return await restoreTree({ ...kept, root: made.dir, maxFileBytes: snapshots.maxFileBytes, signal })
  }
  return { ...made, before, restore }
}

describe('an undo of a command that is cut off', (it) => {
  it('comes to the same end from each step on', { timeoutMs: 60_000 }, async (context) => {
    for (let steps = 0, isWhole = false; !isWhole; steps++) {
      const { restore, seen, before } = await changedFolder(context)
      const { signal, isOver } = cutOffAfter(steps)
      try {
        for (const index of [1, 0]) assert.equal(await restore(index, signal), [])
      } catch (thrown) {
        assert.is((thrown as Error).message, 'cut off')
      }
      isWhole = !isOver()
      for (const index of [1, 0]) assert.equal(await restore(index, context.signal), [], `after ${steps} steps`)
      assert.equal(seen(), before, `after ${steps} steps`)
      if (isWhole) assert.ok(steps > 20)
    }
  })
})
