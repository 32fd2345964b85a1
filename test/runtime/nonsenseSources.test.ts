import { createRuntime, defineAgent, memoryStore, type ToolSource } from '../../src/index.ts'
import type { ToolConnection } from '../../src/actors/tools/toolSource.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { tool } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', () => 'seen')
const up = { state: 'up', since: 0 } as const
const good: ToolConnection = {
  tools: [look],
  instructions: 'Look well.',
  ready: async () => {},
  status: () => up,
  close: async () => {},
}

const throwing = (): never => {
  throw new Error('broken')
}

/** A source whose connection is `good` in the first turn, and something else from the second on. */
const turning = (into: object): ToolSource => {
  let turns = 0
  const ready = async (): Promise<void> => void (turns += 1)
  const connection = new Proxy(good, {
    get: (_, name) => (name === 'ready' ? ready : Reflect.get(turns > 1 && name in into ? into : good, name)),
  })
  return { source: 'srv', open: () => connection }
}

async function twoTurns({ cleanup }: CaseContext, source: ToolSource) {
  const store = memoryStore()
  const runtime = await createRuntime({
    store,
    clock: simulatedClock(),
    redact: { secrets: { KEY: 'hunter2-hunter2' } },
  })
  cleanup(() => runtime.close())
  const model = scriptedModel(['one', 'two'])
  const agent = await runtime.spawn(defineAgent({ name: 'tester', instructions: 'Be.', model, tools: [source] }))
  agent.subscribe(() => {})
  assert.is((await agent.prompt('1').result).text, 'one')
  assert.is((await agent.prompt('2').result).text, 'two')
  const [info] = agent.sources
  return { requests: model.requests, info: info! }
}

const long = 'x'.repeat(10 * 1024 * 1024)

describe('a source that answers nonsense', (it) => {
  for (const [what, into, state, trouble] of [
    [
      'a state that there is none of',
      { status: () => ({ state: 'fine' }) },
      'failed',
      /its state is none of idle, opening/,
    ],
    ['a state that is an object', { status: () => ({ state: {} }) }, 'failed', /its state is none of/],
    ['no status', { status: () => undefined }, 'failed', /its state is none of/],
    ['a status that throws', { status: throwing }, 'failed', /^broken$/],
    ['instructions that are no text', { instructions: { a: 1 } }, 'up', /^its instructions are no text$/],
    [
      'instructions without end',
      { instructions: long },
      'up',
      /^its instructions have 10485760 characters, more than 200000$/,
    ],
    [
      'a getter that throws',
      {
        get instructions() {
          return throwing()
        },
      },
      'failed',
      /^broken$/,
    ],
    ['trouble that is no text', { trouble: Symbol('x') }, 'up', /^its trouble is no text$/],
    ['trouble without end', { trouble: long }, 'up', /^x{499}…$/],
    ['tools that are no list', { tools: 7 }, 'failed', /^its tools are no list$/],
    [
      'an endless list',
      {
        tools: (function* () {
          for (;;) yield look
        })(),
      },
      'failed',
      /^its tools are no list$/,
    ],
  ] as const)
    it(`keeps what it had: ${what}`, async (context) => {
      const { requests, info } = await twoTurns(context, turning(into))
      assert.equal(
        requests.map(({ tools, system }) => [tools.map(({ name }) => name), system]),
        [
          [['look'], 'Be.\n\nLook well.'],
          [['look'], 'Be.\n\nLook well.'],
        ],
      )
      assert.is(info.state, state)
      assert.match(info.trouble!, trouble)
      assert.not.match(info.trouble!, /x{500}/)
    })

  it('loses the tools that are too large, and no other', async (context) => {
    const huge = tool('huge', () => '', { description: long })
    const { requests, info } = await twoTurns(context, scriptedSource('srv', [huge, look]))
    assert.equal(
      requests[1]!.tools.map(({ name }) => name),
      ['look'],
    )
    assert.is(info.trouble, 'left out: huge: it has more than 1000000 characters')
  })

  it('loses each tool that cannot be offered, says which, and keeps the others', async (context) => {
    const named = (name: string, more: object = {}) => ({ ...look, spec: look.spec, name, ...more })
    const wrong: readonly (readonly [bad: object, why: string])[] = [
      [named('a b'), 'a b: its name is not 1 to 64 letters, digits, "_" or "-"'],
      [named('x'.repeat(65)), 'its name is not 1 to 64'],
      [named('away', { external: true }), 'away: a client would have to carry it out'],
      [named('back', { effects: 'reversible' }), 'back: it has no undo'],
      [named('listed', { inputSchema: { type: 'array' } }), 'listed: its input is not an object'],
      [named('odd', { effects: 'some' }), 'odd: it is not a tool'],
      [named('hunter2-hunter2'), 'its name holds a secret'],
      [look, 'look: there is another of that name'],
      [
        {
          get name() {
            return throwing()
          },
        },
        'a tool: broken',
      ],
    ]
    for (const [bad, why] of wrong) {
      const { requests, info } = await twoTurns(context, turning({ tools: [look, bad] }))
      assert.equal(
        requests[1]!.tools.map(({ name }) => name),
        ['look'],
      )
      assert.ok(info.trouble?.startsWith('left out: ') && info.trouble.includes(why), info.trouble)
    }
  })

  it('loses what is too much, in their order, and says how many', async (context) => {
    const many = (count: number, description = 'd') =>
      Array.from({ length: count }, (_, index) => tool(`t${index}`, () => '', { description }))
    for (const [tools, kept, trouble] of [
      [many(1_000), 1_000, undefined],
      [many(1_002), 1_000, 'left out: t1000: there are more than 1000; t1001: there are more than 1000'],
      [many(3, 'd'.repeat(400_000)), 2, 'left out: t2: together they have more than 1000000 characters'],
    ] as const) {
      const { requests, info } = await twoTurns(context, scriptedSource('srv', tools))
      assert.equal([requests[1]!.tools.length, info.trouble], [kept, trouble])
    }
  })

  it('is told of what its open gave in place of a connection', async (context) => {
    for (const [given, trouble] of [
      [undefined, 'its open gave no connection, with ready, status and close'],
      [{ tools: [] }, 'its open gave no connection, with ready, status and close'],
      [Promise.resolve(good), 'its open gave a promise: it must give a connection, and wait in ready'],
    ] as const) {
      const { requests, info } = await twoTurns(context, {
        source: 'srv',
        open: () => given as unknown as ToolConnection,
      })
      assert.equal(requests[1]!.tools, [])
      assert.equal(info, { source: 'srv', state: 'failed', trouble, tools: [] })
    }
  })
})

describe('the trouble of a source', (it) => {
  const warnings = (context: CaseContext): string[] => {
    const warned: string[] = []
    const hear = ({ name, message }: Error): void => void (name === 'EscapementWarning' && warned.push(message))
    process.on('warning', hear)
    context.cleanup(() => process.off('warning', hear))
    return warned
  }
  const warningsAreOut = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

  it('is a warning of the process where neither a logger nor a listener is told of it, once for each', async (context) => {
    const warned = warnings(context)
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const source = scriptedSource('srv', [look])
    const run = async (): Promise<void> => {
      const model = scriptedModel(['done'])
      await (await runtime.spawn(defineAgent({ name: 'tester', model, tools: [source] }))).prompt('go').result
    }
    await run()
    for (const trouble of ['no such program', 'no such program', 'not today']) {
      source.goDown(trouble)
      await run()
    }
    await warningsAreOut()
    assert.equal(warned, [
      'The source of tools "srv" has trouble: no such program',
      'The source of tools "srv" has trouble: not today',
    ])
  })

  it('is none where somebody is told of it', async (context) => {
    const warned = warnings(context)
    const logged: string[] = []
    const log = (_: object, message: string): void => void logged.push(message)
    const logger = { debug: log, info: log, warn: log, error: log }
    const source = scriptedSource('srv', [look])
    source.goDown('no such program')
    const child = defineAgent({ name: 'child', model: scriptedModel(['seen']), tools: [source] })
    const parent = () =>
      defineAgent({
        name: 'parent',
        model: scriptedModel([{ toolCalls: [{ callId: 'a', name: 'child', input: { task: 'look' } }] }, 'done']),
        agents: [child],
      })
    const alone = () => defineAgent({ name: 'alone', model: scriptedModel(['done']), tools: [source] })
    for (const [options, definition, descendants] of [
      [{ logger }, alone(), undefined],
      [{}, alone(), false],
      [{}, parent(), true],
    ] as const) {
      const runtime = await createRuntime(options)
      context.cleanup(() => runtime.close())
      const agent = await runtime.spawn(definition)
      if (descendants !== undefined) agent.subscribe(() => {}, { descendants })
      await agent.prompt('go').result
    }
    await warningsAreOut()
    assert.equal(warned, [])
    assert.ok(logged.some((message) => message.includes('source of tools srv is waiting')))
  })
})
