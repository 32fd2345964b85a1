import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceTools } from '../../../src/workspace/workspaceTools.ts'
import { calls, startAgent } from '../../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'
import { workspaceFolder } from '../workspaceFolder.ts'
import { seenIn } from './treeFolder.ts'

const limits = { timeoutMs: 60_000 }
const undoAll = { category: 'failure', summary: 'no', undo: true } as const

/** An agent in a folder whose command is aborted once it has made the file `go`. */
async function aborted(context: CaseContext, command: string) {
  const { dir } = workspaceFolder(context, { 'a.txt': 'one', 'b.txt': 'bee' })
  const before = seenIn(dir)
  const tools = workspaceTools(dir, { snapshots: 'tree' })
  const started = await startAgent(context, {
    tools,
    braking: { revert: true },
    replies: [
      calls('e', ['edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' }]),
      calls('x', ['run_command', { command }]),
    ],
  })
  const { agent } = started
  agent.subscribe((event) => {
    if (event.type === 'tool.progress' && JSON.stringify(event.progress).includes('at work')) agent.abort()
  })
  await agent.prompt('go').result
  return { ...started, dir, before }
}

describe('a command that was aborted', (it) => {
  it('is undone with what it had done by then, and what somebody else did is left', limits, async (context) => {
    const { agent, dir, before, ofType } = await aborted(
      context,
      'rm b.txt; echo TWO > a.txt; mkdir -p new/x; echo at work; sleep 300',
    )
    assert.ok(!existsSync(join(dir, 'b.txt')))
    writeFileSync(join(dir, 'theirs.txt'), 'theirs')
    agent.revert('n1', undoAll)
    await agent.settled()
    const [ended] = ofType('undo.end')
    assert.equal(
      [ended?.undone, ended?.kept],
      [['a.txt', 'files changed by rm b.txt; echo TWO > a.txt; mkdir -p new/x; echo at work; sleep 300'], []],
    )
    assert.equal(
      seenIn(dir, (path) => path === 'theirs.txt'),
      before,
    )
  })

  it('is not known to a later process, and named', limits, async (context) => {
    const { agent, dir, records } = await aborted(context, 'rm b.txt; echo at work; sleep 300')
    const { receipt } = (await records())
      .flatMap((record) => (record.type === 'tool.end' ? record.message : []))
      .at(-1)!
    assert.match(JSON.stringify(receipt), /"changes":0,"atWork":"[^"]+\/tool\//)
    const tool = workspaceTools(dir, { snapshots: 'tree' }).find(({ name }) => name === 'run_command')!
    const {
      snapshots,
      agent: who,
      deps,
      closeWith,
      callId,
      key,
    } = (await import('../../../../../test/support/toolContext.ts')).toolContext()
    await assert.rejects(
      tool.undo!({
        input: { command: 'true' },
        receipt: (receipt as { readonly data: unknown }).data,
        earlier: [],
        signal: context.signal,
        snapshots,
        agent: who,
        deps,
        closeWith,
        callId,
        key,
      }),
      /^it was cut short, and it is not known what it did$/,
    )
    agent.abort()
  })
})
