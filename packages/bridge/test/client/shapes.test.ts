import { checkCommand } from '../../src/client/commandShapes.ts'
import { conversationShape, readAnswer, snapshotShape } from '../../src/client/answers.ts'
import { readFrames } from '../../src/client/readFrames.ts'
import { sessionShape } from '../../src/client/summaryShapes.ts'
import { agentCommands } from '../../../../src/protocol/bridge/commands.ts'
import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import { clientFrames, serverFrames, sessionEntrySchema } from '../../../wire/src/frames.ts'
import { runStopReasonSchema } from '../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type Path = readonly (string | number)[]

const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 1, estimated: true }
const spent = { usage, costUsd: 0.5, turns: 2 }
const last = {
  stopReason: 'error',
  at: 5,
  error: { code: 'X', message: 'y' },
  reason: { type: 'approvals', callIds: [] },
}
const summary = {
  agentId: 'a1',
  definition: 'd',
  active: 'e',
  path: ['p'],
  state: 'idle',
  seq: 3,
  head: 1,
  pendingApprovals: ['k'],
  pending: ['k'],
  spent,
  treeSpent: spent,
  title: 't',
  last,
  busySince: 1,
  activeAt: 2,
  doing: 'x',
  contextTokens: { used: 1, window: 2 },
  metadata: { user: 'u' },
}
const session = {
  agentId: 'a1',
  definition: 'd',
  path: [],
  status: 'running',
  isStopped: false,
  createdAt: 1,
  updatedAt: 2,
  runs: 1,
  turns: 1,
  usage,
  costUsd: 0,
  title: 't',
  last,
  forkedFrom: 'b',
  metadata: {},
  error: { code: 'X', message: 'y' },
}
const limits = { maxFrameBytes: 1, framesPerSecond: 2, maxSubscriptions: 3 }
const frames: readonly { readonly [key: string]: Json }[] = [
  { type: 'welcome', sessionId: 's', role: 'admin', definitions: ['d'], descriptions: { d: 'x' }, limits },
  { type: 'ok', id: 'c1', result: null },
  { type: 'error', id: 'c1', code: 'X', message: 'y' },
  { type: 'event', agentId: 'a', seq: 1, event: {}, live: true },
  { type: 'delta', agentId: 'a', runId: 'r', turnIndex: 0, kind: 'text', offset: 0, text: 'x' },
  { type: 'caughtUp', agentId: 'a', seq: 1 },
  { type: 'lagging', agentId: 'a', seq: 1 },
  { type: 'agents', agents: [summary], gone: ['b'] },
  { type: 'definitions', definitions: ['d'], descriptions: { d: 'x' } },
  { type: 'closing' },
  { type: 'pong', id: 'c1' },
]

const said = { agentId: 'a1', content: 'Hello', provenance: { type: 'steering' }, context: [{ content: 'x' }] }
const runLimits = { turns: 1, tokens: 1, costUsd: 1, ms: 1, onLimit: 'pause' }
const commands: readonly { readonly [key: string]: Json }[] = [
  { type: 'agent.prompt', ...said, limits: runLimits },
  { type: 'agent.interrupt', ...said, limits: runLimits },
  { type: 'agent.steer', ...said },
  { type: 'agent.followUp', ...said },
  { type: 'agent.abort', agentId: 'a1', run: 'r' },
  { type: 'agent.resume', agentId: 'a1', limits: runLimits },
  { type: 'agent.stop', agentId: 'a1' },
  { type: 'agent.revert', agentId: 'a1', step: 'n1', category: 'failure', summary: 's', undo: true },
  { type: 'agent.prune', agentId: 'a1', steps: ['n1'], tokens: 5, memo: 'm' },
  { type: 'agent.prune', agentId: 'a1', steps: ['n1'], mask: true },
  { type: 'agent.prune', agentId: 'a1', steps: ['n1'], show: true },
  { type: 'agent.fold', agentId: 'a1' },
  { type: 'agent.brake', agentId: 'a1', policy: 'p' },
  { type: 'agent.compact', agentId: 'a1', focus: 'f' },
  { type: 'agent.graft', agentId: 'a1', steps: ['n1'] },
  { type: 'agent.use', agentId: 'a1', use: { instructions: 'i', tools: ['t'], model: 'm' } },
  { type: 'agent.use', agentId: 'a1', use: null },
  { type: 'agent.pin', agentId: 'a1', step: 'n1' },
  { type: 'agent.schedule', agentId: 'a1', schedule: 's', at: 5, prompt: 'p', limits: runLimits, catchUp: 'once' },
  { type: 'agent.schedule', agentId: 'a1', schedule: 's', cron: '* * * * *', timezone: 'UTC', prompt: 'p' },
  { type: 'agent.schedule', agentId: 'a1', schedule: 's', every: 5_000, prompt: 'p' },
  { type: 'agent.unschedule', agentId: 'a1', schedule: 's' },
  { type: 'agent.fire', agentId: 'a1', schedule: 's' },
  { type: 'agent.unpin', agentId: 'a1', step: 'n1' },
  {
    type: 'agent.state',
    agentId: 'a1',
    patch: [
      { op: 'replace', path: '/a', value: 1 },
      { op: 'remove', path: '/b' },
    ],
    base: 1,
  },
  { type: 'agent.decide', agentId: 'a1', callId: 'c', decision: 'approve', input: 1 },
  { type: 'agent.decide', agentId: 'a1', callId: 'c', decision: 'deny', reason: 'r' },
  { type: 'agent.decide', agentId: 'a1', callId: 'c', decision: 'approve', grant: { rule: 'pay', scope: 'session' } },
  { type: 'agent.permit', agentId: 'a1', rule: 'pay', decision: 'deny', for: 'always' },
  { type: 'agent.revoke', agentId: 'a1', grant: 'x' },
  { type: 'agent.mode', agentId: 'a1', mode: 'plan' },
]

const odd: readonly Json[] = [null, true, false, -1, 1.5, 7, '', 'odd', [], [7], ['x'], {}, { x: 1 }]

/** Every place in a value. */
function* placesIn(value: Json, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* placesIn(inner, [...path, key])
}

/** The value with something else in one place; `undefined`: without it. */
function withAt(value: Json, [key, ...rest]: Path, put: Json | undefined): Json {
  const copy = structuredClone(value) as { [key: string]: Json }
  if (rest.length > 0) copy[key!] = withAt(copy[key!]!, rest, put)
  else if (put === undefined) delete copy[key!]
  else copy[key!] = put
  return copy
}

/** Wherever something is wrong or missing, both say the same; `isLeft`: places that are left to the server. */
function agree(
  values: readonly Json[],
  isRight: (value: Json) => boolean,
  isRightHere: (value: Json) => boolean,
  isLeft: (path: string, value: Json) => boolean,
): void {
  for (const value of values) {
    assert.ok(isRight(value), `not a valid example: ${JSON.stringify(value)}`)
    assert.ok(isRightHere(value), JSON.stringify(value))
    for (const path of placesIn(value))
      for (const put of [...odd, undefined]) {
        const changed = withAt(value, path, put)
        if (isLeft(path.join('.'), changed)) continue
        const place = `${path.join('.')} = ${JSON.stringify(put)} of ${JSON.stringify(value)}`
        assert.is(isRightHere(changed), isRight(changed), place)
      }
  }
}

const readsFrame = (frame: Json): boolean => readFrames(JSON.stringify([frame]), () => {}).length === 1

const takes = (command: Json): boolean => {
  try {
    checkCommand(command as never)
    return true
  } catch {
    return false
  }
}

describe('what the client checks without schemas', (it) => {
  it('takes and refuses the frames that the schema takes and refuses', () => {
    // What goes with a pause, ids and metadata as a server has let them through.
    const isLeft = (path: string): boolean => /\.reason(?:\.|$)|agents\.0\.(?:agentId|metadata|head)/.test(path)
    agree(frames, (frame) => serverFrames.schema().safeParse(frame).success, readsFrame, isLeft)
    assert.equal(
      frames.map(({ type }) => type),
      serverFrames.schema().options.map(({ shape }) => shape.type.value),
    )
  })

  it('takes and refuses the commands that the schema takes and refuses, and leaves some of their values to the server', () => {
    const isLeft = (path: string): boolean => /^agentId|provenance|context\.0\.provenance/.test(path)
    agree(
      commands,
      (command) => agentCommands.schema().safeParse(command).success,
      takes,
      (path, command) => {
        const { type, mask, memo, show, steps, tokens, decision } = command as {
          readonly [key: string]: Json | undefined
        }
        // Rules between fields, which stand beside the schema.
        const isRule =
          (type === 'agent.prune' &&
            ((mask !== undefined && memo !== undefined) ||
              (show !== undefined && (steps === undefined || (tokens ?? memo ?? mask) !== undefined)) ||
              (steps ?? tokens) === undefined)) ||
          (type === 'agent.decide' && decision !== undefined)
        return isLeft(path) || isRule
      },
    )
    const known = new Set(commands.map(({ type }) => type))
    for (const { shape } of agentCommands.schema().options) assert.ok(known.has(shape.type.value), shape.type.value)
  })

  it('takes and refuses the sessions of a list that the schema takes and refuses', () => {
    const isRightHere = (entry: Json): boolean => sessionShape(entry) === undefined
    const isLeft = (path: string): boolean => /\.reason(?:\.|$)|^metadata/.test(path)
    agree([session], (entry) => sessionEntrySchema().safeParse(entry).success, isRightHere, isLeft)
  })

  it('knows every word of the enumerations', () => {
    for (const stopReason of runStopReasonSchema().options)
      assert.is(sessionShape({ ...session, last: { ...last, stopReason } }), undefined, stopReason)
    for (const status of sessionEntrySchema().shape.status.options)
      assert.is(sessionShape({ ...session, status }), undefined, status)
    for (const role of ['observe', 'drive', 'admin']) assert.ok(readsFrame({ ...frames[0]!, role }), role)
    const asked = agentCommands.schema().options.find(({ shape }) => shape.type.value === 'agent.revert')!
    for (const category of (asked.shape as unknown as { category: { options: readonly string[] } }).category.options)
      assert.ok(takes({ type: 'agent.revert', agentId: 'a', step: 'n1', category }), category)
    assert.ok(clientFrames.schema().options.length > 0)
  })

  it('says where in a frame something is wrong', () => {
    const errors: ErrorInfo[] = []
    const wrong = { type: 'agents', agents: [summary, { ...summary, spent: { ...spent, turns: -1 } }], gone: [] }
    assert.equal(
      readFrames(JSON.stringify(wrong), (error) => errors.push(error)),
      [],
    )
    assert.match(errors[0]!.message, 'agents.1.spent.turns: give a count')
    readFrames('{"type":"constructor"}', (error) => errors.push(error))
    assert.match(errors[1]!.message, 'type: "constructor" is not known')
  })

  it('lets fields of a newer server through', () => {
    assert.ok(readsFrame({ ...frames[0]!, novelty: { a: 1 } }))
    const snapshot = {
      ...summary,
      tree: { id: 'a1', definition: 'd', state: 'idle', children: [] },
      approvals: [],
      pause: null,
    }
    assert.equal(readAnswer(snapshotShape, { ...snapshot, novelty: 1 }), { ...snapshot, novelty: 1 })
  })

  it('refuses a conversation whose messages could not be shown', () => {
    const node = {
      id: 1,
      parentId: null,
      runId: 'r',
      turnIndex: 0,
      stepId: 1,
      tokens: 1,
      pathTokens: 1,
      depth: 1,
      tags: [],
    }
    const message = { role: 'user', content: [{ type: 'text', text: 'x' }], source: 'prompt' }
    const of = (put: Json): Json => ({ head: 1, nodes: [{ ...node, message: put }] })
    assert.is(conversationShape(of(message)), undefined)
    for (const wrong of [
      null,
      'x',
      { ...message, role: 'x' },
      { ...message, content: 'x' },
      { ...message, content: [7] },
    ])
      assert.ok(conversationShape(of(wrong)), JSON.stringify(wrong))
  })
})

/** JSON of so many levels. */
const nested = (levels: number): string => `${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`

describe('a server whose answer is nested deeper than anything is', (it) => {
  const read = (text: string) => {
    const reported: ErrorInfo[] = []
    return { frames: readFrames(text, (error) => reported.push(error)), reported }
  }

  it('refuses whoever asked, with a code', () => {
    const { frames: read1, reported } = read(`{"type":"ok","id":"c1","result":${nested(50_000)}}`)
    assert.is(read1.length, 1)
    const [answer] = read1
    assert.ok(answer?.type === 'error' && answer.id === 'c1' && answer.code === 'BRIDGE_FRAME')
    assert.match(answer.message, /1100 levels/)
    assert.equal(reported, [])
  })

  it('is reported where nobody asked, and the frames beside it are read', () => {
    const deep = `{"type":"event","agentId":"a","seq":1,"event":${nested(50_000)}}`
    const { frames: others, reported } = read(`[${deep},{"type":"closing"},{"type":7,"id":${nested(2_000)}}]`)
    assert.equal(others, [{ type: 'closing' }])
    assert.equal(
      reported.map(({ code }) => code),
      ['BRIDGE_FRAME', 'BRIDGE_FRAME'],
    )
  })

  it('is read where a record is as deep as a log holds', () => {
    assert.is(read(`{"type":"event","agentId":"a","seq":1,"event":${nested(1_000)}}`).frames.length, 1)
  })
})
