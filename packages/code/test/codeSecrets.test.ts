import { z } from 'zod'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { until } from '../../../test/support/lives.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { codeTool } from '../src/codeTool.ts'
import { engine, inner, noting } from './scriptedAgent.ts'

describe('secrets', (it) => {
  it('are in no record of a script, and in nothing that it is given', async (context) => {
    const secret = 'sk-1234567890abcdef'
    const leaks = defineTool({
      name: 'leaks',
      description: 'Leaks.',
      effects: 'none',
      input: z.object({ fails: z.boolean().default(false) }),
      run: ({ fails }) => {
        if (fails) throw new Error(`the key is ${secret}`)
        return { key: secret, list: [`a ${secret} b`] }
      },
    })
    const store = memoryStore()
    const runtime = await createRuntime({ store, redact: { secrets: { key: secret } } })
    context.cleanup(() => runtime.close())
    const code = `const a = await tools.leaks({}); const e = await tools.leaks({ fails: true }).catch((e) => e.message); console.log(a.key); await tools.echo({ to: a.key }); return [a, e]`
    const model = policyModel(({ messages }) => {
      const said = messages.at(-1)!
      return said.role === 'toolResult' ? textOf(said.content) : { toolCalls: [{ name: 'run_code', input: { code } }] }
    })
    const agent = await runtime.spawn(
      defineAgent({ name: 'a', model, tools: [codeTool([leaks, noting('echo', [])], { only: true, engine })] }),
      { id: 'a1' },
    )
    const { text } = await agent.prompt('go').result
    assert.match(text, /redacted/)
    const records: LogRecord[] = []
    for await (const record of store.read('a1')) records.push(record)
    assert.not.match(JSON.stringify(records), /1234567890abcdef/)
    assert.is(inner(records, 'inner.end').length, 3)
  })

  it('are in no record of the sub-agents of a script, of what an aborted one printed, and of how its calls failed', async (context) => {
    const secret = 'sk-1234567890abcdef'
    const store = memoryStore()
    const runtime = await createRuntime({ store, redact: { secrets: { key: secret } } })
    context.cleanup(() => runtime.close())
    const gossip = defineAgent({
      name: 'gossip',
      output: z.object({ said: z.string() }),
      // A model that knows the secret from elsewhere.
      model: policyModel(() => JSON.stringify({ said: `it is ${secret}` })),
    })
    const fails = noting('fails', [], {
      run: () => {
        throw new Error(`no such key: ${secret}`)
      },
    })
    const hangs = noting('hangs', [], {
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    })
    const code = `const { said } = await tools.gossip({ task: 'tell' }); await tools.fails({}).catch((e) => console.log(e.message))
console.log(('sk-1234567890' + 'abcdef').repeat(500), said); await tools.gossip({ task: 'sk-12345' + '67890abcdef' }); await tools.hangs({})`
    const model = policyModel(() => ({ toolCalls: [{ name: 'run_code', input: { code } }] }))
    const agent = await runtime.spawn(
      defineAgent({ name: 'a', model, agents: [gossip], tools: [codeTool([fails, hangs], { only: true, engine })] }),
      { id: 'a1' },
    )
    const run = agent.prompt('go')
    await until(agent, (event) => event.type === 'inner.start' && event.name === 'hangs')
    agent.abort()
    await run.result
    const records: LogRecord[] = []
    for await (const record of store.read('a1')) records.push(record)
    const end = records.find((record) => record.type === 'tool.end')
    assert.match(JSON.stringify(end), /It had printed:.*redacted/)
    // Not even the half of one that was cut.
    assert.not.match(JSON.stringify(end), /sk-1|7890abcdef/)
    assert.match(JSON.stringify(end), /"failures":\["fails: no such key: \[redacted/)
    assert.is(inner(records, 'inner.start').filter(({ childId }) => childId !== undefined).length, 2)
    assert.not.match(JSON.stringify(records), /1234567890abcdef/)
  })
})
