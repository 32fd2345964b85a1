import {
  createRuntime,
  defineAgent,
  memoryStore,
  type Agent,
  type AgentOptions,
  type LogRecord,
  type ModelRequest,
} from '../../src/index.ts'
import { policyModel, type ModelPolicy } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { cutStore, recordsOf, settled } from '../journeys/cutLogs.ts'
import { calls, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { serveAgents } from '../../packages/bridge/test/server/bridgeHarness.ts'
import { notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const look = tool('look', () => 'nothing here', { effects: 'none' })
const start = tool('start', () => 'started', { effects: 'none' })

/** Looks at the same place again and again, whatever it is told. */
const stubborn: ModelPolicy = ({ messages }) =>
  messages.length === 1
    ? { toolCalls: [{ name: 'start', input: {} }] }
    : { toolCalls: [{ name: 'look', input: { at: 1 } }] }

/** The same, until it is told. */
const reasonable: ModelPolicy = (request, place) =>
  notesIn(request.messages).some((note) => note.includes('kind="stall"')) ? 'I see' : stubborn(request, place)

/** The same, until it has been taken back and told again. */
const late: ModelPolicy = (request, place) => {
  const notes = notesIn(request.messages).join()
  return notes.includes('kind="lesson"') && notes.includes('kind="stall"') ? 'I see' : stubborn(request, place)
}

function looker(options: Partial<AgentOptions> = {}, policy: ModelPolicy = stubborn) {
  const requests: ModelRequest[] = []
  const definition = defineAgent({
    name: 'looker',
    model: policyModel((request, place) => {
      requests.push(request)
      return policy(request, place)
    }),
    tools: [start, look],
    checkRequests: true,
    limits: { turns: 40 },
    braking: { stall: true },
    ...options,
  })
  return { definition, requests }
}

async function run(options: Partial<AgentOptions> = {}, policy: ModelPolicy = stubborn) {
  const { definition, requests } = looker(options, policy)
  const store = memoryStore()
  let ids = 0
  const runtime = await createRuntime({ store, newId: () => `q${ids++}` })
  const agent = await runtime.spawn(definition, { id: 'l' })
  const result = await agent.prompt('find it').result
  const records = await recordsOf(store, 'l')
  await runtime.close()
  return { result, records, requests }
}

const stallsIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.type === 'stall.detected' ? record : []))
const rungsIn = (records: readonly LogRecord[]) => stallsIn(records).map(({ rung }) => rung)
const shown = (requests: readonly ModelRequest[]): string[] =>
  requests.map(({ messages }) => JSON.stringify(messages).replaceAll(/call_\d+/g, 'call'))

describe('an agent that goes in circles', (it) => {
  it('is told, then taken back, then paused; each on the log and as an event', async (context) => {
    const { agent, ofType, script } = await startAgent(context, {
      tools: [start, look],
      braking: { stall: true },
      replies: [
        calls('s', 'start'),
        ...[1, 2, 3, 4, 5].map((at) => calls(`l${at}-`, ['look', { at: 1 }])),
        'not asked',
      ],
    })
    const { stopReason, reason } = await agent.prompt('find it').result
    const evidence = (count: number) => `the same call with the same result ${count} times: look at=1`
    assert.is(stopReason, 'paused')
    assert.equal(reason, { type: 'stall', rule: 'repeat', first: 4, target: 3, evidence: evidence(5) })
    assert.equal(agent.pause, reason)
    assert.equal(
      ofType('stall.detected').map(({ rung, count, target, steps }) => [rung, count, target, steps.length]),
      [
        ['note', 1, 3, 3],
        ['revert', 2, 3, 4],
        ['pause', 3, 3, 5],
      ],
    )
    const [asked] = ofType('revert.requested')
    assert.equal(asked?.request, {
      id: 'a1/stall/n11',
      by: 'runtime',
      category: 'failure',
      step: 'n3',
      summary: evidence(4),
    })
    assert.equal(
      ofType('revert.applied').map(({ applied, target }) => [applied, target]),
      [[true, 3]],
    )
    const noted = script.requests[4]!.messages
    assert.match(notesIn(noted).join(), /^<brake-note kind="stall">You are going in circles: the same call/)
    assert.not.match(textIn(noted), 'revert_to_state')
    const taken = script.requests[5]!.messages
    assert.match(
      notesIn(taken).join(),
      /^<brake-note kind="lesson" span="n4–n11">the same call with the same result 4 times/,
    )
    assert.is(script.requests.length, 6)
  })

  it('that heeds the note goes on, and nothing more is done', async () => {
    const { result, records } = await run({}, reasonable)
    assert.equal([result.stopReason, result.text], ['stop', 'I see'])
    assert.equal(rungsIn(records), ['note'])
  })

  it('goes on after a pause with resume, and is told again if nothing has changed', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [look],
      braking: { stall: { revert: false } },
      replies: [...[1, 2, 3, 4, 5, 6].map((at) => calls(`l${at}-`, ['look', { at: 1 }])), 'done'],
    })
    assert.is((await agent.prompt('find it').result).reason?.type, 'stall')
    assert.is((await agent.resume().result).text, 'done')
    assert.equal(
      ofType('stall.detected').map(({ rung }) => rung),
      ['note', 'note', 'pause', 'note'],
    )
  })

  it('goes on after a pause with a new message, which ends the count', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [look],
      braking: { stall: { note: false, revert: false } },
      replies: [...[1, 2, 3, 4, 5, 6, 7].map((at) => calls(`l${at}-`, ['look', { at: 1 }])), 'done'],
    })
    assert.is((await agent.prompt('find it').result).reason?.type, 'stall')
    assert.is((await agent.prompt('look elsewhere').result).text, 'done')
    assert.equal(
      ofType('stall.detected').map(({ rung }) => rung),
      ['none', 'none', 'pause'],
    )
  })

  it('is left alone while a person steers it', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'nothing here', { effects: 'none' })],
      braking: { stall: true },
      replies: [...[1, 2, 3].map((at) => calls(`l${at}-`, ['look', { at: 1 }])), 'done'],
    })
    agent.subscribe((event) => {
      if (event.type === 'tool.end' && event.callId.startsWith('l3')) agent.steer('look elsewhere')
    })
    assert.is((await agent.prompt('find it').result).text, 'done')
    assert.equal(ofType('stall.detected'), [])
  })

  it('may poll with a tool that says so', async () => {
    const polling = tool('look', () => 'nothing here', { effects: 'none', polls: true })
    const { result, records } = await run({ tools: [start, polling], limits: { turns: 20 } })
    assert.is(result.reason?.type, 'limit')
    assert.equal(stallsIn(records), [])
    const polls = records.flatMap((record) => (record.type === 'tool.start' ? [[record.name, record.polls]] : []))
    assert.equal(polls.slice(0, 2), [
      ['start', undefined],
      ['look', true],
    ])
  })

  it('shows no secret in what is said of it', async (context) => {
    const { agent, records } = await startAgent(context, {
      tools: [look],
      braking: { stall: true },
      redact: { secrets: { password: 'sw0rdfish-and-more' } },
      replies: [...[1, 2, 3].map((at) => calls(`l${at}-`, ['look', { at: 'sw0rdfish-and-more' }])), 'done'],
    })
    await agent.prompt('find it').result
    const log = await records()
    assert.is(stallsIn(log).length, 1)
    assert.not.match(JSON.stringify(log), 'sw0rdfish')
  })

  for (const [title, rules, policy] of [
    ['after a note', {}, reasonable],
    ['after notes and reverts', { pause: false }, late],
    ['up to the pause', {}, stubborn],
    ['with a pause alone', { note: false, revert: false }, stubborn],
  ] as const) {
    it(`comes to the same end after a crash at any record, ${title}`, { timeoutMs: 30_000 }, async () => {
      const options: Partial<AgentOptions> = { braking: { stall: rules } }
      const whole = await run(options, policy)
      const told = new Set(shown(whole.requests))
      const end = ({ type, rung, count, steps, evidence }: (typeof stalls)[number]) => ({
        type,
        rung,
        count,
        steps,
        evidence,
      })
      const stalls = stallsIn(whole.records)
      const reverts = (records: readonly LogRecord[]) =>
        records.flatMap((record) =>
          record.type === 'revert.applied' ? [[record.applied, record.id, record.target]] : [],
        )
      assert.ok(stalls.length > 0)
      for (let cut = 4; cut < whole.records.length; cut++) {
        const left = await cutStore('l', whole.records.slice(0, cut))
        const again = looker(options, policy)
        const runtime = await createRuntime({ store: left })
        const agent = await runtime.resume('l', again.definition, { continue: false })
        if (agent.pause?.type === 'interrupted') await goOn(agent)
        for (const request of shown(again.requests)) assert.ok(told.has(request), `cut at ${cut}: another request`)
        const records = await recordsOf(left, 'l')
        assert.equal(stallsIn(records).map(end), stalls.map(end), `cut at ${cut}`)
        assert.equal(reverts(records), reverts(whole.records), `cut at ${cut}`)
        const { reason } = records.findLast((record) => record.type === 'run.end')!
        assert.is(reason?.type, whole.result.reason?.type, `cut at ${cut}`)
        await runtime.close()
      }
    })
  }
})

async function goOn(agent: Agent): Promise<void> {
  const ended = settled(agent)
  agent.resume()
  await ended
}

describe('a stall over the wire', (it) => {
  it('is an event, and why the agent is paused, for a client too', async (context) => {
    const { definition } = looker()
    const serving = await serveAgents(context, [definition])
    const agent = await serving.connect().spawn('looker')
    const rungs: string[] = []
    agent.subscribe((event) => {
      if (event.type === 'stall.detected') rungs.push(event.rung)
    })
    const { reason } = await agent.prompt('find it').result
    assert.is(reason?.type, 'stall')
    assert.equal(rungs, ['note', 'revert', 'pause'])
    assert.equal((await agent.snapshot()).pause, reason)
  })
})

describe('a sub-agent that goes in circles', (it) => {
  it('is reported to its caller, with the evidence', async (context) => {
    const { definition } = looker()
    const { agent, ofType, script } = await startAgent(context, {
      agents: [definition],
      replies: [calls('c', ['looker', { task: 'find it' }]), 'done'],
    })
    await agent.prompt('go').result
    const { message } = ofType('tool.end').find(({ name }) => name === 'looker')!
    assert.is(message.isError, true)
    assert.is(
      textOf(message.content),
      'The agent "looker" did not finish: it went in circles and was paused, the same call with the same result 5 times: look at=1.',
    )
    assert.match(textIn(script.requests[1]!.messages), 'it went in circles')
  })
})

describe('without the flag', (it) => {
  it('nothing is looked for, and a tool that polls leaves no trace', async () => {
    const polling = tool('look', () => 'nothing here', { effects: 'none', polls: true })
    const braking = { revert: true } as const
    const [plain, polls] = await Promise.all([
      run({ braking, limits: { turns: 8 } }),
      run({ braking, limits: { turns: 8 }, tools: [start, polling] }),
    ])
    assert.equal(stallsIn(plain.records), [])
    const timeless = (records: readonly LogRecord[]) =>
      JSON.stringify(records.map((record) => ({ ...record, time: 0 }))).replaceAll(/call_\d+/g, 'call')
    assert.is(timeless(polls.records), timeless(plain.records))
    assert.equal(shown(polls.requests), shown(plain.requests))
  })

  it('is every flag of the others: it alone offers no tool', async (context) => {
    const { definition } = looker()
    assert.equal([...definition.tools.keys()], ['start', 'look'])
    const { flags } = definition.policy
    assert.equal(flags, { revert: true, prune: true, fold: false, stall: true, policies: false, compact: true })
    assert.is(looker({ braking: { stall: { revert: false } } }).definition.policy.flags.revert, false)
    const { agent } = await startAgent(context, { braking: { stall: { revert: false } } })
    assert.equal(agent.braking, { revert: false, prune: true, fold: false, stall: true, policies: false })
  })

  for (const [title, stall] of [
    ['a rule that it does not know', { rules: ['boredom'] }],
    ['no rules', { rules: [] }],
    ['an option that it does not know', { after: 3 }],
    ['a rung that is no switch', { note: 'please' }],
    ['a number', 3],
  ] as const)
    it(`refuses ${title}`, () => {
      assert.throws(() => looker({ braking: { stall: stall as never } }), withCode('INVALID_DEFINITION', 'stall'))
    })

  it('refuses a tool whose polls is no switch', () => {
    assert.throws(() => tool('watch', () => '', { polls: 'yes' as never }), withCode('INVALID_DEFINITION', 'polls'))
  })
})
