import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { failingTest } from '../src/failingTest.ts'
import { testLiteral } from '../src/testLiteral.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { logOf } from './sessionLogs.ts'

const repository = join(import.meta.dirname, '..', '..', '..')

/** The log of an agent that a story was played with. */
async function recorded(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  definition: AgentDefinition,
  story: (agent: Agent) => Promise<unknown>,
): Promise<LogRecord[]> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close().catch(() => {}))
  const agent = await runtime.spawn(definition, { id: 'a1' })
  await story(agent)
  return logOf(store, 'a1')
}

function sourceOf(records: readonly LogRecord[], expect?: string): string {
  const made = failingTest(records, { agentId: 'a1', ...(expect === undefined ? {} : { expect }) })
  if (!made.ok) throw new Error(made.why)
  return made.source
}

const nasty = 'a */ `${1}` "\' \\ \u2028 </script> \ud800 🙂 \n // x'

const weigh = defineTool({
  name: 'weigh',
  description: 'Weighs.',
  input: z.looseObject({}),
  run: ({ what }) => {
    if (what === 'air') throw new Error(`too light: ${nasty}`)
    return `${String(what)} weighs 3 kg`
  },
})
const cook = (replies: readonly ScriptedReply[], options: object = {}) =>
  defineAgent({
    name: 'cook',
    model: scriptedModel(replies),
    tools: [weigh],
    retry: { baseMs: 0, maxMs: 0 },
    ...options,
  })

/** Tools, a sub-agent, steering, a step that was taken back, and a call that failed. */
async function withTools(context: CaseContext): Promise<LogRecord[]> {
  const taster = defineAgent({ name: 'taster', description: 'Tastes.', model: scriptedModel(['It is sweet.']) })
  let running: Agent | undefined
  const replies: ScriptedReply[] = [
    {
      text: nasty,
      toolCalls: [{ name: 'weigh', input: JSON.parse(`{"what":"pear","__proto__":{"x":${JSON.stringify(nasty)}}}`) }],
    },
    () => {
      running!.steer('and the apple')
      return {
        toolCalls: [
          { name: 'taster', input: { task: 'taste it' } },
          { name: 'weigh', input: { what: 'apple' } },
        ],
      }
    },
    {
      toolCalls: [{ name: 'revert_to_state', input: { category: 'failure', step: 'n1', summary: 'It led nowhere.' } }],
    },
    'Both are sweet.',
    {
      toolCalls: [
        { name: 'weigh', input: { what: 'air' } },
        { name: 'no such tool', input: 'text' },
      ],
    },
    'I could not weigh it.',
  ]
  return recorded(context, cook(replies, { agents: [taster], braking: { revert: true } }), async (agent) => {
    running = agent
    await agent.prompt('weigh the pear').result
    await agent.prompt(nasty).result
  })
}

interface Ended {
  readonly code: number
  readonly output: string
}

const node = (args: readonly string[], cwd: string, signal: AbortSignal): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, signal }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
    )
  })

describe('a failing test of a recorded conversation', (it) => {
  it('compiles, and fails by what it asserts until that is mended', { timeoutMs: 120_000 }, async (context) => {
    const tools = await withTools(context)
    const failed = await recorded(
      context,
      cook([
        { toolCalls: [{ name: 'weigh', input: { what: 'pear' } }] },
        { error: { kind: 'auth', message: 'no key' } },
      ]),
      (agent) => agent.prompt('weigh').result,
    )
    const limited = await recorded(
      context,
      cook([
        { toolCalls: [{ name: 'weigh', input: { what: 'pear' } }] },
        { toolCalls: [{ name: 'weigh', input: {} }] },
      ]),
      (agent) => agent.prompt('weigh', { limits: { turns: 2 } }).result,
    )
    const plain = await recorded(
      context,
      cook(['four', { text: 'five', stopReason: 'length' }, 'six']),
      async (agent) => {
        for (const said of ['one', 'two', 'three']) await agent.prompt(said).result
      },
    )
    const aborted = await recorded(
      context,
      cook([
        async (_, { signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          return 'late'
        },
        'done',
      ]),
      async (agent) => {
        const run = agent.prompt('wait')
        agent.subscribe(({ type }) => {
          if (type === 'turn.request') agent.abort()
        })
        await run.result
      },
    )
    const sources = {
      tools: sourceOf(tools),
      toolsMended: sourceOf(tools).replaceAll('isError: true', 'isError: false'),
      failed: sourceOf(failed),
      limited: sourceOf(limited),
      answer: sourceOf(plain),
      expected: sourceOf(plain, 'seven'),
      expectedMended: sourceOf(plain, 'seven').replace('"six"', '"seven"'),
      aborted: sourceOf(aborted),
    }
    const folder = await mkdtemp(join(repository, 'test', '.blocks-tests-'))
    context.cleanup(() => rm(folder, { recursive: true }))
    for (const [name, source] of Object.entries(sources)) {
      const own = source
        .replace("from 'escapement/testing'", "from '../../src/testing.ts'")
        .replace("from 'escapement'", "from '../../src/index.ts'")
      await writeFile(join(folder, `${name}.ts`), own)
    }
    const config = { extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc')
    const compiled = await node([tsc, '--singleThreaded', '--pretty', 'false', '-p', folder], folder, context.signal)
    assert.is(compiled.output, '')
    const said: Record<string, RegExp> = {
      tools: /no call of weigh fails[^]*too.light/,
      failed: /the run ends with an answer[^]*error/,
      limited: /the run ends with an answer[^]*paused/,
      answer: /the answer is another one/,
      expected: /the answer was: six/,
      aborted: /the answer is another one/,
    }
    for (const name of Object.keys(sources)) {
      const { code, output } = await node([`${name}.ts`], folder, context.signal)
      assert.not.match(output, /is not in the script|replies, but only/, `${name}: ${output}`)
      assert.is(code, said[name] === undefined ? 0 : 1, `${basename(name)}: ${output}`)
      assert.match(output, said[name] ?? /Passed:\s+1/)
    }
  })

  it('says why there is none, and when it passes as it was recorded', async (context) => {
    const silent = await recorded(context, cook([]), async () => {})
    assert.equal(failingTest(silent, { agentId: 'a1' }), {
      ok: false,
      why: 'Nobody has said anything to "a1" that a test could say again.',
    })
    assert.is(failingTest([], { agentId: 'a1' }).ok, false)
    const answered = await recorded(context, cook(['four apples']), (agent) => agent.prompt('how many').result)
    const made = failingTest(answered, { agentId: 'a1', expect: 'four' })
    assert.equal(made.ok && made.passes, 'the answer has that already')
    const ended = answered.map((record): LogRecord =>
      record.type === 'run.end'
        ? { ...record, stopReason: 'error', error: { code: 'STORE_CLOSED', message: 'closed' } }
        : record,
    )
    const elsewhere = failingTest(ended, { agentId: 'a1' })
    assert.equal(elsewhere.ok && elsewhere.passes, 'replies alone do not bring about that it failed with STORE_CLOSED')
    assert.match(
      elsewhere.ok ? elsewhere.source : '',
      /Replies alone do not bring about everything that happened: it failed with STORE_CLOSED\./,
    )
  })

  it('is bounded: long texts lose their middle, and of long conversations the end is played', async (context) => {
    const replies = Array.from({ length: 230 }, (_, at) => ({ text: `${at} ${'x'.repeat(9_000)}` }))
    const records = await recorded(context, cook(replies), async (agent) => {
      for (let at = 0; at < 230; at++) await agent.prompt(`${at} ${'y'.repeat(100)}`).result
    })
    const source = sourceOf(records)
    assert.ok(source.length < 2_000_000, String(source.length))
    assert.match(source, 'characters left out')
    assert.match(source, 'Only the end of it is played: 30 replies before are left out.')
    assert.not.match(source, '"29 x')
    assert.match(source, '"30 x')
  })

  it('leaves out what people said while calls ran, as it would keep them from running', async (context) => {
    let running: Agent | undefined
    const slow = defineTool({
      name: 'slow',
      description: 'Is told something while it works.',
      input: z.object({}),
      run: () => {
        running?.steer('hurry up')
        return 'ready'
      },
    })
    const replies = [{ toolCalls: [{ name: 'slow', input: {} }] }, 'four']
    const records = await recorded(context, cook(replies, { tools: [slow] }), async (agent) => {
      running = agent
      await agent.prompt('how many').result
    })
    assert.ok(records.some((record) => record.type === 'message.added' && record.message.source === 'steering'))
    assert.not.match(sourceOf(records), 'hurry up')
  })

  it('leaves out attempts that were made again', async (context) => {
    const records = await recorded(
      context,
      cook([{ error: { kind: 'network', message: 'cut off' } }, 'four']),
      (agent) => agent.prompt('how many').result,
    )
    const source = sourceOf(records)
    assert.not.match(source, 'cut off')
    assert.match(source, '{ text: "four" }')
  })
})

describe('a value as TypeScript', (it) => {
  it('is the value again, whatever is in it', async () => {
    const value = JSON.parse(
      JSON.stringify([nasty, { a: 1, 'b c': [true, null, -0.5], 1: {}, d: [], ['x'.repeat(90)]: { e: 'f' } }]),
    ) as unknown
    const own = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}') as unknown
    for (const each of [value, own]) {
      const text = testLiteral(each)
      assert.not.match(text, /[\u2028\u2029]/)
      const module = `data:text/javascript,${encodeURIComponent(`export default ${text.toWellFormed()}`)}`
      const { default: again } = (await import(module)) as { default: unknown }
      assert.is(JSON.stringify(again), JSON.stringify(each).toWellFormed())
    }
  })
})
