import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LogRecord, RecordOf } from '../../../../../src/protocol/records.ts'
import { createRuntime } from '../../../../../src/index.ts'
import { quiet } from '../../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'
import { fileStore } from '../../../../stores/src/fileStore.ts'
import { workspaceFolder } from '../workspaceFolder.ts'
import { seenIn } from './treeFolder.ts'
import { treeAgent, undoAll } from './treeJob.ts'

const limits = { timeoutMs: 120_000 }
const program = join(import.meta.dirname, 'treeChild.ts')

/** Works in a process that dies, and goes on in this one; resolves to what the folder was, what it is, and the ledger of the undo. */
async function killed(context: CaseContext, deadly: string) {
  const { dir, outside } = workspaceFolder(context, { 'a.txt': 'one', 'b.txt': 'bee', 'dir/x': 'x', 'dir/deep/y': 'y' })
  mkdirSync(join(dir, 'dir/empty'))
  const [before, logs] = [seenIn(dir), join(outside, 'logs')]
  const child = spawn(process.execPath, [program, logs, dir, deadly], { stdio: ['ignore', 'inherit', 'inherit'] })
  const end = await new Promise((resolve) => void child.once('exit', (code, signal) => resolve(signal ?? code)))
  assert.is(end, deadly === '' ? 0 : 'SIGKILL', deadly)
  // The command goes on without the process that began it.
  if (deadly === 'working')
    while (!existsSync(join(dir, 'k2.txt'))) {
      context.signal.throwIfAborted()
      await quiet()
    }
  const store = fileStore(logs)
  const records = async (): Promise<LogRecord[]> => {
    const all: LogRecord[] = []
    for await (const record of store.read('a1')) all.push(record)
    return all
  }
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const agent = await runtime.open('a1', treeAgent(dir))
  await agent.settled()
  if (agent.pause !== null) await agent.resume().result
  await agent.settled()
  if (!(await records()).some(({ type }) => type === 'revert.applied')) agent.revert('n1', undoAll)
  await agent.settled()
  const ended = (await records()).filter((record): record is RecordOf<'undo.end'> => record.type === 'undo.end')
  assert.is(ended.length, 1, deadly)
  return { before, after: seenIn(dir), undone: ended[0]!.undone, kept: ended[0]!.kept }
}

const all = [
  'a.txt',
  "files changed by sed -i 's/two/TWO/; s/bee/BEE/' a.txt b.txt",
  'files changed by rm -r dir; mkdir -p made/deep; echo n > made/deep/n',
]
const last = 'files changed by echo k > k1.txt; true; echo k > k2.txt'

describe('a process that is killed while commands are at work, or undone', (it) => {
  it('undoes everything when nobody dies', limits, async (context) => {
    const { before, after, undone, kept } = await killed(context, '')
    assert.equal([after, undone, kept], [before, [...all, last], []])
  })

  const harmless = [
    // Before and after the first look, and with the result in the log.
    'before tool.start 5',
    'after tool.end 4',
    'after tool.end 5',
    'before revert.applied 1',
    'after revert.applied 1',
    // In the middle of undoing, after the deed and after its record.
    ...[1, 2, 3, 4, 5].flatMap((step) => [`before undo.step ${step}`, `after undo.step ${step}`]),
    'get 4',
    'get 6',
    'before undo.end 1',
  ]
  for (const deadly of harmless)
    it(`comes to the same end: ${deadly}`, limits, async (context) => {
      const { before, after, undone, kept } = await killed(context, deadly)
      assert.equal([after, undone, kept], [before, [...all, last], []], deadly)
    })

  // Its process has died with what it knew; the log says that it is not known.
  for (const deadly of ['after tool.start 5', 'working', 'put 7', 'before tool.end 5'])
    it(`names the command that it killed, and undoes everything else: ${deadly}`, limits, async (context) => {
      const { before, after, undone, kept } = await killed(context, deadly)
      const { 'k1.txt': _, 'k2.txt': __, ...rest } = after
      assert.equal([rest, undone], [before, all], deadly)
      assert.equal(
        kept.map(({ why }) => why),
        ['it was cut short, and it is not known what it did'],
      )
      assert.match(kept[0]!.what, /^run_command \{"command":"echo k > k1\.txt/)
    })
})
