import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { AgentContext, AgentMachineEvent } from '../../src/machines/agentTypes.ts'
import type { RuntimeError } from '../../src/protocol/errors.ts'
import type { AgentHost } from '../../src/runtime/agents/agentHost.ts'
import { dispatchCommand } from '../../src/runtime/agents/commands.ts'
import { RunDeps } from '../../src/runtime/children/runDeps.ts'
import { checkOwedDeps } from '../../src/runtime/resumable.ts'
import type { RunHandle } from '../../src/protocol/runs/run.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../support/suite.ts'

const model = policyModel(() => 'yes')
const step = 'n1'
const category = 'mistake'

/** Every command that waits in a queue, with the queue at rest and during a run. */
const commands: { readonly [type: string]: readonly [more: object, atRest: string, busy?: string] } = {
  'agent.prompt': [{ content: 'x' }, 'prompts'],
  'agent.interrupt': [{ content: 'x' }, 'prompts'],
  'agent.steer': [{ content: 'x' }, 'prompts', 'steering'],
  'agent.followUp': [{ content: 'x' }, 'prompts', 'followUps'],
  'agent.revert': [{ step, category, summary: 's', undo: true }, 'reverts'],
  'agent.prune': [{ steps: [step] }, 'prunes'],
  'agent.graft': [{ steps: [step] }, 'grafts'],
  'agent.fold': [{}, 'prunes'],
  'agent.brake': [{ policy: 'tidy' }, 'policyRequests'],
  'agent.compact': [{}, 'compactRequests'],
  'agent.pin': [{ step }, 'pins'],
  'agent.unpin': [{ step }, 'pins'],
}
const queues = [
  'prompts',
  'steering',
  'followUps',
  'reverts',
  'prunes',
  'grafts',
  'pins',
  'compactRequests',
  'policyRequests',
]

interface Scene {
  readonly context?: object
  readonly state?: string
  readonly unseen?: number
  readonly flags?: object
  readonly isLoaded?: boolean
  readonly deps?: z.ZodType | null
}

function scene({ context, state = 'idle', unseen = 0, flags, deps = null, isLoaded = true }: Scene) {
  const sent: AgentMachineEvent[] = []
  const notes: string[] = []
  const definition = {
    ...defineAgent({ name: 'tester', model }),
    maxQueue: 2,
    compaction: null,
    deps,
    policy: { flags: { fold: true, policies: true, ...flags }, policies: { names: ['tidy', 'other'] } },
  }
  const asked = {
    run: null,
    pause: null,
    failedRun: null,
    resuming: null,
    ending: null,
    ...Object.fromEntries(queues.map((queue) => [queue, []])),
    ...context,
  }
  const host = {
    agentId: 'a',
    given: undefined as RunDeps | undefined,
    isLoaded,
    shared: { clock: simulatedClock(5) },
    view: { definition, conversation: { tokens: 0, trunk: () => [] } },
    machine: { state, unseen, send: (event: AgentMachineEvent) => void sent.push(event) },
    announcer: { requested: () => void notes.push('requested') },
    runs: {
      await: (run: RunHandle) => {
        notes.push(`expects ${run.requestId}`)
        return run
      },
      resume: async () => void notes.push('resumes'),
      continue: () => void notes.push('continues'),
    },
  }
  const dispatch = (type: string, more: object, how: { isRemote?: boolean; deps?: unknown } = {}) =>
    dispatchCommand(
      { host: host as unknown as AgentHost, context: asked as unknown as AgentContext },
      { type, agentId: 'a', ...more } as never,
      { id: 'r1', isRemote: how.isRemote ?? false, deps: how.deps },
    )
  const codeOf = (...given: Parameters<typeof dispatch>): string | undefined => {
    try {
      dispatch(...given)
      return undefined
    } catch (thrown) {
      return (thrown as RuntimeError).code
    }
  }
  return { host, sent, notes, dispatch, codeOf }
}

describe('a command to an agent', (it) => {
  it('waits in its queue while there is room in that, counted with what is still on its way', () => {
    for (const [type, [more, atRest, busy = atRest]] of Object.entries(commands))
      for (const [isRunning, state] of [
        [false, 'idle'],
        [true, 'replying'],
        [true, 'settling'],
      ] as const)
        for (const queue of queues)
          for (const [waiting, unseen] of [
            [1, 0],
            [2, 0],
            [0, 2],
            [1, 1],
            [0, 1],
          ] as const) {
            const run = isRunning ? {} : null
            const { codeOf, sent } = scene({
              context: { run, [queue]: Array.from({ length: waiting }, () => ({ content: 'y' })) },
              state,
              unseen,
            })
            const its = isRunning && state !== 'settling' ? busy : atRest
            const isFull = (queue === its ? waiting : 0) + unseen >= 2
            const label = `${type} ${state} ${queue} ${waiting} ${unseen}`
            assert.is(codeOf(type, more), isFull ? 'QUEUE_FULL' : undefined, label)
            assert.is(sent.length, isFull ? 0 : 1, label)
          }
  })

  it('says in its refusal what waits', () => {
    for (const [type, [more, queue]] of Object.entries(commands)) {
      const { dispatch } = scene({ context: { [queue]: [{ content: 'y' }, { content: 'y' }] } })
      const word = { compactRequests: 'compactions', policyRequests: 'policies' }[queue] ?? queue
      assert.throws(() => dispatch(type, more), new RegExp(`has 2 waiting ${word}, the most`))
    }
  })

  it('is refused while the store has failed, but for an abort, and for a resumption', () => {
    const pause = { type: 'store', error: { code: 'STORE_APPEND_FAILED', message: 'full' } }
    for (const [type, [more]] of Object.entries(commands))
      assert.is(scene({ context: { pause } }).codeOf(type, more), 'AGENT_PAUSED', type)
    assert.is(scene({ context: { pause }, state: 'paused' }).codeOf('agent.abort', {}), undefined)
    assert.is(scene({ context: { pause }, state: 'paused' }).codeOf('agent.resume', {}), undefined)
    for (const type of ['limit', 'approvals', 'stall', 'interrupted'])
      assert.is(scene({ context: { pause: { type } } }).codeOf('agent.prompt', { content: 'x' }), undefined)
  })

  it('goes on with what is paused, and not with what waits for people, runs or rests', () => {
    for (const [context, state, code, why] of [
      [{ pause: { type: 'limit' } }, 'paused', undefined, ''],
      [{ pause: { type: 'approvals' } }, 'paused', 'NOT_PAUSED', 'waiting for approvals'],
      [{ run: {} }, 'replying', 'NOT_PAUSED', 'is replying\\.'],
      [{}, 'idle', 'NOT_PAUSED', 'its last run has not failed'],
      [{ failedRun: 'a/r0' }, 'idle', undefined, ''],
      [{ failedRun: 'a/r0', resuming: {} }, 'idle', 'NOT_PAUSED', 'is idle'],
      [{ failedRun: 'a/r0', ending: {} }, 'idle', 'NOT_PAUSED', 'is idle'],
      [{ failedRun: 'a/r0', run: {} }, 'replying', 'NOT_PAUSED', 'is replying'],
    ] as const) {
      const { codeOf, dispatch, notes } = scene({ context, state })
      assert.is(codeOf('agent.resume', {}), code)
      assert.is(notes.includes('resumes'), code === undefined)
      if (code !== undefined) assert.throws(() => dispatch('agent.resume', {}), new RegExp(why))
      // Nothing of an unloaded agent is left to be written first.
      const unloaded = scene({ context, state, isLoaded: false })
      assert.is(unloaded.codeOf('agent.resume', {}), code)
      const wayOn = unloaded.notes.filter((note) => ['resumes', 'continues'].includes(note))
      assert.equal(wayOn, code === undefined ? ['continues'] : [])
    }
  })

  it('is traced where it may begin a run, and tells its id where somebody may ask again', () => {
    for (const [type, [more]] of Object.entries({ ...commands, 'agent.abort': [{}, ''] as const })) {
      const { dispatch, notes, sent } = scene({})
      dispatch(type, more, { isRemote: true })
      assert.is(notes.includes('requested'), type !== 'agent.abort', type)
      assert.is((sent[0] as { requestId?: string }).requestId, type === 'agent.abort' ? 'r1' : undefined)
    }
    const { dispatch, sent } = scene({})
    dispatch('agent.abort', {})
    dispatch('agent.abort', { run: 'r7' })
    dispatch('agent.abort', { run: 'r7' }, { isRemote: true })
    assert.equal(sent, [
      { type: 'abort' },
      { type: 'withdraw', id: 'r7' },
      { type: 'withdraw', id: 'r7', requestId: 'r1' },
    ] as never)
  })

  it('is refused where the definition has not what it is for', () => {
    assert.is(scene({ flags: { fold: false } }).codeOf('agent.fold', {}), 'BRAKING_OFF')
    assert.is(scene({ flags: { policies: false } }).codeOf('agent.brake', { policy: 'tidy' }), 'BRAKING_OFF')
    assert.is(scene({}).codeOf('agent.brake', { policy: 'neat' }), 'POLICY_NOT_FOUND')
  })

  it('needs the deps of the run that it begins or continues, and of no other', () => {
    const deps = z.object({ user: z.string() })
    const [own, wrong] = [{ user: 'ann' }, { user: 7 }]
    const paused = { pause: { type: 'limit' } }
    for (const [type, more, context, needs] of [
      ['agent.prompt', { content: 'x' }, {}, true],
      ['agent.interrupt', { content: 'x' }, { run: {} }, true],
      ['agent.steer', { content: 'x' }, {}, true],
      ['agent.steer', { content: 'x' }, { run: {} }, false],
      ['agent.followUp', { content: 'x' }, {}, true],
      ['agent.followUp', { content: 'x' }, { run: {} }, false],
      ['agent.resume', {}, paused, true],
      ['agent.compact', {}, {}, false],
      ['agent.abort', {}, {}, false],
    ] as const) {
      const state = 'run' in context ? 'replying' : 'idle'
      const label = `${type} ${JSON.stringify(context)}`
      assert.is(scene({ deps, context, state }).codeOf(type, more), needs ? 'DEPS_MISSING' : undefined, label)
      const has = scene({ deps, context, state })
      has.host.given = new RunDeps(own)
      assert.is(has.codeOf(type, more), undefined, label)
      has.host.given = new RunDeps(wrong)
      assert.is(has.codeOf(type, more), needs ? 'INVALID_DEPS' : undefined, label)
      if (type !== 'agent.prompt' && type !== 'agent.interrupt' && type !== 'agent.resume') continue
      assert.is(scene({ deps, context, state }).codeOf(type, more, { deps: own }), undefined, label)
      const bad = scene({ deps, context, state })
      bad.host.given = new RunDeps(own)
      assert.is(bad.codeOf(type, more, { deps: wrong }), 'INVALID_DEPS', label)
    }
  })

  it('takes back the deps of a run that is refused, or that ends before it begins', async () => {
    const begins = (given: RunDeps): unknown => {
      given.note({ type: 'run.start', requestId: 'r1', cause: 'prompt' } as never)
      return given.current
    }
    const full = scene({ context: { prompts: [{ content: 'y' }, { content: 'y' }] } })
    full.host.given = new RunDeps('own')
    assert.is(full.codeOf('agent.prompt', { content: 'x' }, { deps: 'given' }), 'QUEUE_FULL')
    assert.is(begins(full.host.given), 'own')
    for (const isDropped of [true, false]) {
      const { dispatch, host } = scene({})
      const run = dispatch('agent.prompt', { content: 'x' }, { deps: 'given' }) as RunHandle
      if (isDropped) run.cancel('aborted')
      await new Promise(setImmediate)
      assert.is(begins(host.given!), isDropped ? undefined : 'given')
    }
  })
})

describe('the deps of the runs of an agent', (it) => {
  it('are those of the request, else of the run it continues, else its own, in every order of events', () => {
    type Event = 'start' | 'startGiven' | 'resume' | 'resumeGiven' | 'stop' | 'error' | 'paused' | 'replace'
    const events: readonly Event[] = [
      'start',
      'startGiven',
      'resume',
      'resumeGiven',
      'stop',
      'error',
      'paused',
      'replace',
    ]
    for (let number = 0; number < events.length ** 4; number += 1) {
      const sequence = [0, 1, 2, 3].map((at) => events[Math.floor(number / events.length ** at) % events.length]!)
      const deps = new RunDeps('own 0')
      let [own, run, failed] = ['own 0', null as string | null, null as string | null]
      for (const [at, event] of sequence.entries()) {
        if (event === 'replace') deps.replace((own = `own ${at + 1}`))
        else if (event === 'stop' || event === 'error' || event === 'paused') {
          deps.note({ type: 'run.end', stopReason: event } as never)
          if (event === 'paused') continue
          failed = event === 'error' ? run : null
          run = null
        } else {
          const isGiven = event.endsWith('Given')
          if (isGiven) deps.give(`r${at}`, `given ${at}`)
          const before = event.startsWith('resume') ? (run ?? failed ?? own) : own
          deps.note({
            type: 'run.start',
            requestId: `r${at}`,
            cause: event.startsWith('resume') ? 'resume' : 'prompt',
          } as never)
          run = isGiven ? `given ${at}` : before
          failed = null
        }
        assert.equal(
          [deps.own, deps.current, deps.resumed],
          [own, run ?? own, run ?? failed ?? own],
          sequence.join(', '),
        )
      }
    }
  })

  it('are owed by a log that goes on by itself, and by no other', () => {
    const definition = { name: 'tester', deps: z.object({ user: z.string() }) } as never
    const opened = (context: object, prompts: readonly object[] = []) =>
      ({
        past: [],
        records: [],
        base: {
          context: { context: { run: null, pause: null, foreign: false, ...context } },
          conversation: { queues: { prompts } },
        },
      }) as never
    for (const [log, owes] of [
      [opened({}), false],
      [opened({ run: {} }), true],
      [opened({ pause: { type: 'interrupted' } }), true],
      [opened({ pause: { type: 'limit' } }), false],
      [opened({}, [{}]), true],
      [opened({ run: {}, foreign: true }), false],
      [opened({ foreign: true }, [{}]), false],
    ] as const) {
      const check =
        (deps: unknown, of: unknown = definition) =>
        () =>
          checkOwedDeps(of as never, deps, log)
      if (owes) assert.throws(check(undefined), /needs deps/)
      else check(undefined)()
      // What is given is checked elsewhere.
      check({})()
      check(undefined, { name: 'tester', deps: null })()
    }
  })
})
