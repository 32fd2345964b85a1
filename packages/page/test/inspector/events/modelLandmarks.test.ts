import { Landmarks, momentWords, nextMoment, turnBeside } from '../../../src/inspector/model/events/landmarks.ts'
import { TimePlayer } from '../../../src/inspector/model/events/timePlayer.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
const error = { code: 'MODEL_AUTH', message: 'The key is wrong.' }
const text = (words: string, rest: object = {}): object => ({ content: [{ type: 'text', text: words }], ...rest })

/** Records of a log, each with its time in seconds. */
const logOf = (
  ...lines: readonly (readonly [type: LogRecord['type'], seconds?: number, rest?: object])[]
): LogRecord[] =>
  lines.map(
    ([type, seconds = 0, rest = {}], index) =>
      ({
        v: 3,
        seq: index + 1,
        runId: 'a/r0',
        turnIndex: 6,
        type,
        time: seconds * 1_000,
        ...rest,
      }) as unknown as LogRecord,
  )

describe('landmarks of a log', (it) => {
  it('are its turns, prompts, reverts, compactions and errors', () => {
    const records = logOf(
      ['agent.created'],
      ['run.start'],
      ['message.added', 0, { message: text('Release it.') }],
      ['message.added', 0, { message: text('A fact.', { provenance: { type: 'memoryTier' } }) }],
      ['turn.start'],
      ['tool.end', 0, { message: text('exit code 1', { isError: true }) }],
      ['compaction.end', 0, { applied: true }],
      ['compaction.end', 0, { applied: false }],
      ['message.added', 0, { message: text('Stop.', { provenance: { type: 'steering' } }) }],
      ['revert.applied'],
      ['run.end', 0, { stopReason: 'error', error }],
    )
    const marks = new Landmarks()
    assert.equal(
      marks.of(records, 100).map(({ kind, seq }) => `${seq} ${kind}`),
      ['3 prompt', '5 turn', '6 error', '7 compaction', '9 prompt', '10 revert', '11 error'],
    )
    records.push(...logOf(['turn.start']))
    assert.is(marks.of(records, 100).at(-1)!.seq, 12)
    assert.is(marks.of(records, 100), marks.of(records, 100))
  })

  it('are no more than can be told apart, and of those at one place the gravest', () => {
    const records = logOf(
      ...Array.from({ length: 10_000 }, (_, index) =>
        index === 5_001 ? (['run.end', 0, { stopReason: 'error', error }] as const) : (['turn.start'] as const),
      ),
    )
    const marks = new Landmarks().of(records, 50)
    assert.is(marks.length, 50)
    assert.equal(
      marks.filter(({ kind }) => kind === 'error').map(({ seq }) => seq),
      [5_002],
    )
  })

  it('are gone to turn by turn, and beyond the last to the end', () => {
    const records = logOf(['agent.created'], ['turn.start'], ['reply.end'], ['turn.start'], ['reply.end'], ['turn.end'])
    assert.equal(
      [1, 2, 3, 4, 6].map((seq) => turnBeside(records, seq, 1)),
      [2, 4, 4, 6, 6],
    )
    assert.equal(
      [1, 2, 3, 4, 6].map((seq) => turnBeside(records, seq, -1)),
      [1, 1, 2, 2, 4],
    )
  })
})

describe('the player of a log', (it) => {
  const records = logOf(
    ['agent.created', 0],
    ['run.start', 0.01],
    ['turn.start', 0.02],
    ['reply.end', 1],
    ['tool.end', 600],
    ['run.end', 5],
  )

  it('takes as long as it took, with long waits shortened and what came at once shown at once', () => {
    const played = (speed: number): (readonly [number, number])[] => {
      const all: (readonly [number, number])[] = []
      for (let next = nextMoment(records, 1, speed); next !== undefined; next = nextMoment(records, next.seq, speed))
        all.push([next.seq, Math.round(next.afterMs)])
      return all
    }
    assert.equal(played(1), [
      [4, 1_000],
      [5, 1_500],
      [6, 40],
    ])
    assert.equal(played(10), [
      [4, 100],
      [5, 150],
      [6, 40],
    ])
    assert.is(nextMoment(records, 6, 1), undefined)
    assert.is(nextMoment([], 0, 1), undefined)
  })

  /** Of `records`, as the page has one. */
  const played = (at: number | null) => {
    const clock = simulatedClock()
    let shown = at
    const seen: (number | null)[] = []
    const player: TimePlayer = new TimePlayer({
      clock,
      records: () => records,
      shown: () => shown,
      show: (next) => {
        shown = next
        seen.push(next)
        player.follow(next)
      },
    })
    return { clock, seen, player }
  }

  it('plays from the moment shown to the newest one, and from there from the beginning', async () => {
    const { clock, seen, player } = played(3)
    player.play(10)
    await clock.advance(10_000)
    assert.equal(seen, [4, 5, null])
    assert.is(player.speed.value, null)
    assert.is(clock.pending, 0)
    player.play(1)
    await clock.advance(999)
    assert.equal(seen, [4, 5, null, 1])
    await clock.advance(1)
    assert.equal(seen, [4, 5, null, 1, 4])
    player.play(10)
    await clock.advance(10_000)
    assert.equal(seen, [4, 5, null, 1, 4, 5, null])
  })

  it('stops when somebody goes elsewhere, pauses or closes the page', async () => {
    const ends: readonly ((player: TimePlayer) => void)[] = [
      (player) => player.follow(2),
      (player) => player.follow(null),
      (player) => player.pause(),
      (player) => player.close(),
    ]
    for (const end of ends) {
      const { clock, seen, player } = played(1)
      player.play(1)
      await clock.advance(1_000)
      assert.is(player.speed.value, 1)
      end(player)
      assert.is(player.speed.value, null)
      await clock.advance(10_000)
      assert.equal(seen, [4])
    }
  })

  it('does nothing for a log that is not read yet', () => {
    const player = new TimePlayer({
      clock: simulatedClock(),
      records: () => [],
      shown: () => null,
      show: () => assert.unreachable(),
    })
    player.play(1)
    assert.is(player.speed.value, null)
  })
})

describe('a moment of a log in words', (it) => {
  it('names what happened as one would say it, without types and ids', () => {
    const records = logOf(
      ['turn.start'],
      ['turn.end', 0, { usage }],
      ['reply.end', 0, { nodeId: 20, message: text('I deploy.') }],
      ['tool.start', 0, { name: 'deploy', input: { to: 'production' } }],
      ['run.end', 0, { stopReason: 'stop', turns: 2 }],
      ['approval.decided', 0, { decision: 'deny' }],
      ['message.added', 0, { nodeId: 1, message: text('Release it.') }],
    )
    const said = records.map((record) => momentWords(record, 'a'))
    assert.equal(said.slice(0, 3), ['turn 7 begins', 'turn 7 ends, 1 token', 'reply: I deploy.'])
    assert.match(said[3]!, /^calls deploy/)
    assert.is(said[4], 'run done after 2 turns')
    assert.match(said[5]!, /^approval decided/)
    assert.match(said[6]!, /^(?!n1).*Release it\./)
  })
})
