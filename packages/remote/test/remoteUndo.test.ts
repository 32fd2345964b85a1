import type { RemoteAgentEntry } from '../../../src/actors/parts/remote/remoteEntry.ts'
import type { RecordOf } from '../../../src/protocol/records.ts'
import { ends, Lives, until, type Life } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { callerOf, elsewhere, recordsOf } from './fakeAgent.ts'

/** Keeps these, and notes what it is to undo. */
function keeping(entries: readonly unknown[], why?: string) {
  const undone: unknown[] = []
  const entry: RemoteAgentEntry = elsewhere(
    async (_, host) => {
      await host.note('s1', {})
      for (const one of entries) host.keep(one)
      return { text: 'done' }
    },
    {
      undo: async (kept) => {
        undone.push(...kept)
        if (why !== undefined) throw new Error(why)
      },
    },
  )
  return { entry, undone }
}

async function takeBack({ agent, logs }: Life): Promise<RecordOf<'undo.end'>> {
  const over = until(agent, ({ type }) => type === 'undo.end')
  agent.revert('n1', { category: 'failure', summary: 'wrong', undo: true })
  await over
  return recordsOf((await logs())['a1']!, 'undo.end')[0]!
}

async function worked(lives: Lives, entry: RemoteAgentEntry): Promise<Life> {
  const life = await lives.begin(callerOf(entry), 'go')
  if (life.agent.state !== 'idle') await ends(life.agent)
  return life
}

describe('the undoing of what an agent elsewhere did', (it) => {
  it('is given all that was kept, the oldest first', async (context) => {
    const { entry, undone } = keeping([{ file: 'a' }, { file: 'b' }])
    const { kept, undone: done } = await takeBack(await worked(new Lives(context), entry))
    assert.equal([undone, kept, done.length], [[{ file: 'a' }, { file: 'b' }], [], 1])
  })

  it('is named with its reason where it fails', async (context) => {
    const { kept } = await takeBack(await worked(new Lives(context), keeping([1], 'it is painted').entry))
    assert.equal(
      kept.map(({ why }) => why),
      ['it is painted'],
    )
  })

  it('is not tried without all that was done, as after a crash or where that is too much', async (context) => {
    const lives = new Lives(context)
    const large = keeping(['x'.repeat(15_000), 'y'.repeat(2_000)])
    const first = await worked(lives, large.entry)
    assert.match((await takeBack(first)).kept[0]!.why, 'not known what all it did')

    const { entry, undone } = keeping([1])
    const { logs } = await worked(lives, entry)
    const log = (await logs())['a1']!
    const noted = log.findIndex(({ type }) => type === 'child.noted') + 1
    const life = await lives.resume(callerOf(entry), { a1: log.slice(0, noted) }, { continue: true })
    if (life.agent.state !== 'idle') await ends(life.agent)
    assert.match((await takeBack(life)).kept[0]!.why, 'not known what all it did')
    assert.equal([large.undone, undone], [[], []])
  })

  it('is not claimed of a task that kept nothing', async (context) => {
    const { entry, undone } = keeping([])
    assert.match((await takeBack(await worked(new Lives(context), entry))).kept[0]!.why, 'not known')
    assert.equal(undone, [])
  })
})
