import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { workspaceTools } from '../../packages/tools/src/workspace/workspaceTools.ts'
import { memoryStore, type Agent } from '../../src/index.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { workspaceFolder } from '../../packages/tools/test/workspace/workspaceFolder.ts'
import { assert, describe } from '../support/suite.ts'
import { cutStore, recordsOf, settled } from './cutLogs.ts'

describe('an agent whose process died among the calls of a reply', (it) => {
  it('at any record answers the same calls as too many', { timeoutMs: 20_000 }, async (context) => {
    const definition = () =>
      defineAgent({
        name: 'eager',
        model: policyModel(({ messages }) =>
          messages.length > 1 ? 'done' : { toolCalls: [1, 2, 3, 4, 5].map((n) => ({ name: 'look', input: { n } })) },
        ),
        tools: [
          defineTool({
            name: 'look',
            description: 'Looks.',
            input: z.object({ n: z.number() }),
            effects: 'none',
            needsApproval: ({ n }) => n > 3,
            run: ({ n }) => `seen ${n}`,
          }),
        ],
        maxCallsPerReply: 3,
        checkRequests: true,
      })
    const results = (agent: Agent): string[] =>
      agent.conversation
        .trunk()
        .flatMap(({ message }) => (message.role === 'toolResult' ? [textOf(message.content).slice(0, 8)] : []))
    const wanted = ['seen 1', 'seen 2', 'seen 3', 'Not run:', 'Not run:']
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(definition(), { id: 'c1' })
    await agent.prompt('look').result
    assert.equal(results(agent), wanted)
    const records = await recordsOf(store, 'c1')
    await runtime.close()
    const replied = records.findIndex(({ type }) => type === 'reply.end')
    for (let cut = replied + 1; cut < records.length; cut++) {
      const second = await createRuntime({ store: await cutStore('c1', records.slice(0, cut)) })
      context.cleanup(() => second.close())
      const resumed = await second.resume('c1', definition(), { continue: false })
      if (resumed.pause !== null) await resumed.resume().result
      assert.equal(results(resumed), wanted, `cut at ${cut}`)
    }
  })

  it('in the middle of a search just searches again, and asks about an edit', async (context) => {
    const { dir } = workspaceFolder(context, { 'a.txt': 'needle\n', 'b.txt': 'needle\n' })
    assert.equal(Object.fromEntries(workspaceTools(dir).map(({ name, effects }) => [name, effects])), {
      read_file: 'none',
      write_file: 'idempotent',
      edit_file: 'irreversible',
      list_files: 'none',
      search_files: 'none',
      run_command: 'irreversible',
    })
    const definition = () =>
      defineAgent({
        name: 'seeker',
        model: policyModel(({ messages }) =>
          messages.length > 1
            ? 'done'
            : {
                toolCalls: [
                  { name: 'search_files', input: { pattern: 'needle' } },
                  { name: 'write_file', input: { path: 'b.txt', content: 'needle needle' } },
                  { name: 'edit_file', input: { path: 'a.txt', oldText: 'needle', newText: 'needles' } },
                ],
              },
        ),
        tools: workspaceTools(dir),
        toolExecution: 'parallel',
      })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const agent = await runtime.spawn(definition(), { id: 'c1' })
    await agent.prompt('search').result
    const records = await recordsOf(store, 'c1')
    await runtime.close()
    const begun = records.findLastIndex(({ type }) => type === 'tool.start')
    const second = await createRuntime({ store: await cutStore('c1', records.slice(0, begun + 1)) })
    context.cleanup(() => second.close())
    const resumed = await second.resume('c1', definition())
    await settled(resumed)
    const results = resumed.conversation
      .trunk()
      .flatMap(({ message }) => (message.role === 'toolResult' ? [message] : []))
    const [search, write, edit] = results.map(({ content }) => textOf(content))
    assert.match(search!, /^a\.txt:1: needles?\nb\.txt:1: needle/)
    assert.match(write!, /^Overwrote b\.txt/)
    assert.match(edit!, /not known whether it happened/)
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'needles\n')
  })
})
