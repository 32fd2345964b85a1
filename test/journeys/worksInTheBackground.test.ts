import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import {
  calls,
  gate,
  quiet,
  startAgent,
  tool,
  withCode,
  type Harness,
  type HarnessOptions,
} from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** An agent whose builds end when the test lets them. */
async function start(
  context: CaseContext,
  replies: readonly ScriptedReply[],
  options: HarnessOptions = {},
  others: readonly ReturnType<typeof tool>[] = [],
) {
  const builds = new Map<string, ReturnType<typeof gate<string>>>()
  const signals = new Map<string, AbortSignal>()
  const build = defineTool({
    name: 'build',
    description: 'Builds.',
    input: z.object({ what: z.string() }),
    background: true,
    run: ({ what }, { report, signal, background }) => {
      const building = gate<string>()
      builds.set(what, building)
      signals.set(what, signal)
      report({ output: `${background} begins\n` })
      return building.promise
    },
  })
  const harness = await startAgent(context, { replies, tools: [build, ...others], ...options })
  const begun = async (what: string): Promise<void> => {
    while (!builds.has(what)) await quiet()
  }
  const end = async (what: string, result: string): Promise<void> => {
    await begun(what)
    builds.get(what)!.resolve(result)
  }
  return { ...harness, begun, end, signals }
}

const build = (what: string) => ['build', { what }] as const
const heard = ({ ofType }: Harness): readonly string[] =>
  ofType('message.added').map(({ message }) => textOf(message.content))
const results = ({ ofType }: Harness, name: string): readonly string[] =>
  ofType('tool.end').flatMap((event) => (event.name === name ? [textOf(event.message.content)] : []))
const reportOf = (id: string, text: string): string => `Report of ${id}, your call of build:\n\n${text}`

describe('a tool in the background', (it) => {
  it('goes on beside the model, and its result comes as a message', async (context) => {
    const harness = await start(context, [calls('c', build('site')), 'meanwhile', 'read it'])
    const run = harness.agent.prompt('go')
    assert.is((await run.result).text, 'meanwhile')
    assert.equal(await harness.agent.settled(), { status: 'idle', seq: harness.agent.lastSeq, reporters: ['b1'] })
    await harness.end('site', 'built')
    await harness.until(({ type }) => type === 'call.reported')
    await harness.agent.settled()
    assert.equal(heard(harness), ['go', reportOf('b1', 'built')])
    assert.equal(
      harness.ofType('run.start').map(({ cause }) => cause),
      ['prompt', 'prompt'],
    )
  })

  it('is waited for by wait_for, alone or with agents, and not told again', async (context) => {
    const helper = defineAgent({ name: 'helper', model: scriptedModel(['found']) })
    const replies = [
      calls('c', build('site'), build('docs'), ['helper', { task: 'look' }]),
      calls('w', ['wait_for', { ids: ['b2', 'a1.1'] }]),
      calls('x', 'wait_for'),
      'done',
    ]
    const harness = await start(context, replies, { agents: [{ definition: helper, detach: 'report' }] })
    const run = harness.agent.prompt('go')
    await harness.end('docs', 'docs built')
    while (results(harness, 'wait_for').length === 0) await quiet()
    await harness.end('site', 'site built')
    assert.is((await run.result).text, 'done')
    const [named, rest] = results(harness, 'wait_for')
    assert.ok(named!.includes(reportOf('b2', 'docs built')))
    assert.ok(named!.includes('Report of a1.1, the agent "helper" that you called:\n\nfound'))
    assert.is(rest, reportOf('b1', 'site built'))
    assert.equal(heard(harness), ['go'])
  })

  it('is looked at by check_call and ended by cancel_call, whose report is its result', async (context) => {
    const replies = [
      calls('c', build('site')),
      calls('k', ['check_call', { id: 'b1' }], ['check_call', { id: 'b7' }]),
      calls('x', ['cancel_call', { id: 'b1' }]),
      calls('y', ['cancel_call', { id: 'b1' }]),
      'done',
    ]
    const harness = await start(context, replies)
    assert.is((await harness.agent.prompt('go').result).text, 'done')
    assert.equal(results(harness, 'check_call'), [
      'b1 (build) is at work. Its newest output:\n\nb1 begins\n',
      '"b7" is not at work, or has reported. At work: b1 (build).',
    ])
    assert.equal(results(harness, 'cancel_call'), [
      'Report of b1, your call of build, which failed:\n\nEnded by cancel_call: what it did so far was not undone.',
      '"b1" is not at work, or has reported. No call is at work in the background.',
    ])
    assert.is(harness.signals.get('site')!.aborted, true)
    assert.equal(heard(harness), ['go'])
  })

  it('is answered at once if its arguments do not fit', async (context) => {
    const harness = await start(context, [
      calls('c', ['build', {}], build('site')),
      calls('x', ['cancel_call', { id: 'b1' }]),
      'done',
    ])
    await harness.agent.prompt('go').result
    const [receipt, wrong] = results(harness, 'build')
    assert.match(wrong!, /^Invalid arguments: what: /)
    assert.match(receipt!, /^Started as b1\./)
    assert.equal(harness.ofType('call.reported').length, 1)
  })

  it('ends with an abort, unless it is left', async (context) => {
    const harness = await start(context, [calls('c', build('site')), 'meanwhile'])
    await harness.agent.prompt('go').result
    assert.throws(() => harness.agent.abort({ background: 'all' as never }), withCode('INVALID_OPTION'))
    harness.agent.abort({ background: false })
    await quiet()
    assert.is(harness.signals.get('site')!.aborted, false)
    harness.agent.abort()
    assert.is(harness.signals.get('site')!.aborted, true)
    assert.equal(
      harness.ofType('call.reported').map(({ ended }) => ended),
      ['aborted'],
    )
    assert.is(harness.agent.state, 'idle')
  })

  it('ends with the run that began it, if those of earlier runs are to be left', async (context) => {
    const slow = tool('slow', () => gate<string>().promise)
    const replies = [calls('c', build('site')), 'meanwhile', calls('d', build('docs')), calls('s', 'slow'), 'last']
    const harness = await start(context, replies, {}, [slow])
    const { agent, signals } = harness
    await agent.prompt('go').result
    agent.abort({ background: 'run' })
    assert.is(signals.get('site')!.aborted, false, 'at rest no run is ended')
    const run = agent.prompt('and now?')
    await harness.until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.abort({ background: 'run' })
    assert.is((await run.result).stopReason, 'aborted')
    assert.equal([signals.get('site')!.aborted, signals.get('docs')!.aborted], [false, true])
    assert.equal(
      harness.ofType('call.reported').map(({ id, ended }) => [id, ended]),
      [['b2', 'aborted']],
    )
  })
})

describe('the field background', (it) => {
  const command = (seen: unknown[]) =>
    defineTool({
      name: 'command',
      description: 'Runs a command.',
      input: z.strictObject({ line: z.string(), tries: z.number().default(1) }),
      background: 'choice',
      effects: 'none',
      needsApproval: (given) => {
        seen.push(given)
        return false
      },
      run: (given, { background }) => {
        seen.push([given, background])
        return 'ran'
      },
    })

  it('is the model’s, and no tool sees it', async (context) => {
    const seen: unknown[] = []
    const replies = [
      calls('c', ['command', { line: 'make', background: true }], ['command', { line: 'ls' }]),
      'meanwhile',
      'done',
    ]
    const harness = await startAgent(context, { replies, tools: [command(seen)] })
    await harness.agent.prompt('go').result
    await harness.agent.settled()
    const [make, ls] = ['make', 'ls'].map((line) => ({ line, tries: 1 }))
    assert.equal(seen.toSorted(byText), [make, ls, [ls, undefined], [make, 'b1']].toSorted(byText))
    assert.equal(
      harness.ofType('tool.start').map(({ input }) => input),
      [{ ...make, background: true }, ls],
    )
  })

  it('is refused where it is no boolean', () => {
    assert.equal(command([]).parse({ line: 'ls', background: 'yes' }), {
      ok: false,
      message: 'Invalid arguments: background: give true or false. Correct them and call again.',
    })
  })
})

const byText = (a: unknown, b: unknown): number => JSON.stringify(a).localeCompare(JSON.stringify(b))

describe('a definition with calls in the background', (it) => {
  const named = (options: object) => ({ name: 'work', description: 'Works.', input: z.object({}), ...options })
  const run = () => 'done'
  const refused: { readonly [what: string]: readonly [object, RegExp] } = {
    'without run': [{ background: true }, /"work": background: what a client does works outside anyway/],
    'that ends the run': [{ run, background: true, endsRun: true }, /background: its result comes after the run/],
    'of another kind': [{ run, background: 'always' }, /background: give true or "choice"/],
    'that only survives': [{ run, survives: true }, /survives: only for calls in the background/],
    'with the field': [
      { run, background: 'choice', input: z.object({ background: z.string() }) },
      /has a field "background" of its own/,
    ],
  }
  for (const [what, [options, message]] of Object.entries(refused))
    it(`is refused: one ${what}`, () => {
      assert.throws(() => defineTool(named(options) as never), message)
    })

  it('has its tools only then, and their names are taken', () => {
    const model = scriptedModel([])
    const names = (tools: Parameters<typeof defineAgent>[0]['tools']) =>
      defineAgent({ name: 'a', model, tools: tools! }).toolSpecs.map(({ name }) => name)
    const work = defineTool(named({ run, background: true }) as never)
    assert.equal(names([work]), ['work', 'wait_for', 'cancel_call', 'check_call'])
    assert.equal(names([tool('work', run)]), ['work'])
    assert.throws(() => names([work, tool('cancel_call', run)]), /two tools are named "cancel_call"/)
  })
})
