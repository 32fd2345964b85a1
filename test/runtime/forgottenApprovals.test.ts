import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const root = join(import.meta.dirname, '..', '..')

interface Ended {
  readonly code: number | string | null | undefined
  readonly stdout: string
  readonly stderr: string
}

/** A program with a runtime and agents whose tool wants an approval; `rest` goes on from there. */
const program = (rest: string): string => `
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, policyModel } from ${JSON.stringify(join(root, 'src', 'index.ts'))}
const caller = (name, input) =>
  policyModel(({ messages }) => (messages.at(-1).role === 'toolResult' ? 'done' : { toolCalls: [{ name, input, callId: 'c0' }] }))
const risky = defineTool({ name: 'risky', description: 'Risky.', input: z.object({}), needsApproval: true, run: () => 'x' })
const worker = defineAgent({ name: 'worker', model: caller('risky', {}), tools: [risky] })
const leader = defineAgent({ name: 'leader', model: caller('worker', { task: 'x' }), agents: [worker] })
const runtime = await createRuntime()
${rest}`

const run = (text: string, { signal }: CaseContext): Promise<Ended> =>
  new Promise((resolve) => {
    const args = ['--input-type=module', '--eval', text]
    execFile(process.execPath, args, { cwd: root, signal }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

const timeoutMs = 30_000

describe('a process that ends while calls wait for a decision', (it) => {
  it('names them and what to call, once each, sub-agents too', { timeoutMs }, async (context) => {
    const { code, stderr } = await run(
      program(`
        const a1 = await runtime.spawn(worker, { id: 'a1' })
        const a2 = await runtime.spawn(leader, { id: 'a2' })
        await Promise.all([a1.prompt('go').result, a2.prompt('go').result])
        console.log('never')`),
      context,
    )
    assert.is(code, 13)
    assert.is([...stderr.matchAll(/EscapementWarning/g)].length, 2)
    assert.match(stderr, `a call of "risky" by agent "a1" waits for a decision`)
    assert.match(stderr, `agent.decide('a1/t0/tool/c0', 'approve')`)
    assert.match(stderr, `by agent "a2.1" waits`)
    assert.match(stderr, `agent.decide('a2.1/t0/tool/c0', 'approve')`)
  })

  it('names open questions and calls for clients, and how to answer those', { timeoutMs }, async (context) => {
    const { code, stderr } = await run(
      program(`
        const ask = defineTool({ name: 'ask', description: 'Asks.', input: z.object({}), run: (_, c) => c.ask(z.string(), 'Who?') })
        const find = defineTool({ name: 'find', description: 'Finds.', input: z.object({}) })
        const a1 = await runtime.spawn(defineAgent({ name: 'asker', model: caller('ask', {}), tools: [ask] }), { id: 'a1' })
        const a2 = await runtime.spawn(defineAgent({ name: 'finder', model: caller('find', {}), tools: [find] }), { id: 'a2' })
        await Promise.all([a1.prompt('go').result, a2.prompt('go').result])`),
      context,
    )
    assert.is(code, 13)
    assert.match(stderr, `"ask" by agent "a1" waits for the answer to its question, and nobody answered`)
    assert.match(stderr, `agent.decide('a1/t0/tool/c0/q1', { value }) or 'deny', in a listener for question.asked.`)
    assert.match(stderr, `agent.decide('a2/t0/tool/c0', { result }) or { error }, in a listener for call.requested.`)
  })

  it('says nothing when they were decided, or the runtime was closed', { timeoutMs }, async (context) => {
    const { code, stdout, stderr } = await run(
      program(`
        const asked = async (agent) => { for await (const event of agent.events()) if (event.type === 'approval.requested') return }
        const a1 = await runtime.spawn(worker, { id: 'a1' })
        const waits = asked(a1)
        const { result } = a1.prompt('go')
        await waits
        a1.decide('c0', 'deny')
        console.log((await result).text)
        const other = await createRuntime()
        const a2 = await other.spawn(worker, { id: 'a2' })
        const waitsToo = asked(a2)
        a2.prompt('go')
        await waitsToo
        await other.close()`),
      context,
    )
    assert.equal([code, stdout, stderr], [0, 'done\n', ''])
  })
})
