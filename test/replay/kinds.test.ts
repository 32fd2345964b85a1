import { generateSession, longSessions, shortSessions } from '../../tools/bench/replay/generate/generateSession.ts'
import { type KindName, kinds, longKinds, shortKinds } from '../../tools/bench/replay/generate/kinds.ts'
import { namesOf } from '../../tools/bench/replay/measure/names.ts'
import { textTokens, tokensOf } from '../../tools/bench/replay/measure/tokens.ts'
import { frameOnDemand, frameTokens } from '../../tools/bench/replay/policies/frameOnDemand.ts'
import { isStep, type RecordedSession, type RecordedTurn, stepsOf } from '../../tools/bench/replay/recordedSession.ts'
import { callsOf, replay } from '../../tools/bench/replay/replay.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

const names = Object.keys(kinds) as KindName[]
const gaps = (session: RecordedSession): number[] => {
  const times = stepsOf(session).map(({ at }) => at!)
  return times.slice(1).map((at, index) => at - times[index]!)
}
const resultTokens = (session: RecordedSession): number[] =>
  stepsOf(session).flatMap(({ results }) =>
    results.map(({ content }) => content.reduce((sum, block) => sum + tokensOf(block), 0)),
  )
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

describe('generated sessions', (it) => {
  it('are the same for the same seed, and others for another', () => {
    for (const name of ['opencode', 'sub-agent', 'terminal', 'support', 'browser'] as const) {
      assert.equal(generateSession(name, 7), generateSession(name, 7))
      assert.not.equal(generateSession(name, 7).turns, generateSession(name, 8).turns)
    }
  })

  it('have no seed in common where one set is tuned on and the other not', () => {
    const of = (sessions: readonly RecordedSession[]): string[] => sessions.map(({ name }) => name.replace(/.*-/, ''))
    const tune = new Set([...of(longSessions('opencode', 'tune', 5)), ...of(shortSessions('tune', 20))])
    for (const seed of [...of(longSessions('opencode', 'held-out', 5)), ...of(shortSessions('held-out', 20))])
      assert.not.ok(tune.has(seed), seed)
  })

  it('have the frames and lengths of their kind', () => {
    for (const name of names)
      for (const seed of [3]) {
        const session = generateSession(name, seed)
        const { frame, lengths } = kinds[name]
        const tokens = frameTokens(session)
        assert.ok(tokens > 0.95 * frame[0] && tokens < 1.05 * frame[1] + 100, `${name} ${tokens}`)
        const requests = stepsOf(session).length
        assert.ok(requests >= Math.min(...lengths.map((length) => length.requests[0])), `${name} ${requests}`)
        // The last task is finished.
        assert.ok(requests <= Math.max(...lengths.map((length) => length.requests[1])) + 8, `${name} ${requests}`)
      }
    for (const name of Object.keys(longKinds) as KindName[])
      assert.ok(kinds[name].lengths.every(({ requests }) => requests[0] >= 50))
    for (const name of Object.keys(shortKinds) as KindName[])
      assert.ok(kinds[name].lengths.every(({ requests }) => requests[1] < 30))
  })

  it('have pauses of more than five minutes in about 3 % of requests, two thirds of them before a message', () => {
    let [all, long, said] = [0, 0, 0]
    for (const name of Object.keys(longKinds) as KindName[])
      for (let seed = 1; seed <= 5; seed += 1) {
        const session = generateSession(name, seed)
        const steps = session.turns.flatMap((turn, at) => (isStep(turn) ? [at] : []))
        for (const [index, gap] of gaps(session).entries()) {
          all += 1
          if (gap <= 300_000) continue
          long += 1
          if (!isStep(session.turns[steps[index + 1]! - 1]!)) said += 1
        }
      }
    assert.ok(long / all > 0.02 && long / all < 0.045, `${long} of ${all}`)
    assert.ok(said / long > 0.5 && said / long < 0.8, `${said} of ${long}`)
    assert.ok(gaps(generateSession('sub-agent', 3)).every((gap) => gap < 300_000))
  })

  it('read much and patch late, as Codex does', () => {
    const { turns } = generateSession('codex', 1)
    const read = turns.findIndex(
      (turn) => isStep(turn) && callsOf(turn).filter(({ name }) => name === 'read_file').length >= 4,
    )
    const patch = turns.findIndex((turn) => isStep(turn) && callsOf(turn).some(({ name }) => name === 'edit_file'))
    assert.ok(read > 0 && patch - read >= 15, `${read} ${patch}`)
  })

  it('have large results where the recorded ones have them', () => {
    const shareOfLarge = (name: KindName): number => {
      const tokens = [1, 2, 3].flatMap((seed) => resultTokens(generateSession(name, seed)))
      return sum(tokens.filter((each) => each > 2_000)) / sum(tokens)
    }
    const [claude, codex, chat] = [shareOfLarge('claude-code'), shareOfLarge('codex'), shareOfLarge('support')]
    assert.ok(claude > 0.25 && claude < 0.6 && codex > 0.5 && chat === 0, `${claude} ${codex} ${chat}`)
    for (let seed = 1; seed <= 5; seed += 1) {
      const tokens = sum(resultTokens(generateSession('sub-agent', seed)))
      assert.ok(tokens > 30_000 && tokens < 120_000, `${tokens}`)
    }
  })

  it('use names again long after they were met', () => {
    const { turns } = generateSession('claude-code', 2)
    const met = new Map<string, number>()
    let late = 0
    turns.forEach((turn, at) => {
      for (const name of namesOf(turn.content)) if (met.has(name) && at - met.get(name)! > 30) late += 1
      for (const name of namesOf(turn.content)) met.set(name, at)
    })
    assert.ok(late > 10, `${late}`)
  })
})

describe('a frame on demand', (it) => {
  const session = generateSession('claude-code', 1)
  const reshaped = frameOnDemand(session)
  const calls = (of: RecordedSession) => stepsOf(of).flatMap(callsOf)
  const callsIn = (turn: RecordedTurn): string[] => (isStep(turn) ? callsOf(turn).map(({ name }) => name) : [])

  it('keeps instructions and the tools that are called most, and defers the others', () => {
    assert.ok(frameTokens(session) > 30_000 && frameTokens(reshaped) < 12_000)
    const own = ['edit_file', 'read_file', 'read_instructions', 'run_command', 'search']
    assert.equal(reshaped.tools.map(({ name }) => name).toSorted(), own)
    assert.is(reshaped.deferred!.length + own.length - 1, session.tools.length)
  })

  it('is one of the product: requests list the two tools, and are answered by them', async () => {
    const turns = reshaped.turns.slice(0, reshaped.turns.findIndex((turn) => callsIn(turn).includes('call_tool')) + 1)
    const { requests, failure } = await replay({ ...reshaped, turns })
    assert.is(failure, undefined)
    const { tools, messages } = requests.at(-1)!.request
    const listed = [...reshaped.tools.map(({ name }) => name), 'call_tool', 'find_tools']
    assert.equal(tools.map(({ name }) => name).toSorted(), listed.toSorted())
    const answers = messages.flatMap((message) =>
      message.role === 'toolResult' && message.toolName === 'find_tools' ? [textOf(message.content)] : [],
    )
    const called = stepsOf({ ...reshaped, turns }).at(-1)!
    const [inner] = callsOf(called).flatMap(({ input }) => ('name' in (input as object) ? [input] : []))
    const { name } = inner as { readonly name: string }
    assert.ok(answers.some((text) => text.startsWith('Call one with call_tool') && text.includes(`${name}(input`)))
  })

  it('leaves tools as they are where the agent had such a pair of its own', () => {
    const tools = [...session.tools, { ...session.tools[0]!, name: 'find_tools' }]
    const same = frameOnDemand({ ...session, tools })
    assert.is(same.deferred, undefined)
    assert.ok(!calls(same).some(({ name }) => name === 'call_tool'))
  })

  it('finds a tool before its first call, and calls it through another', () => {
    const used = new Set(calls(session).map(({ name }) => name))
    const offered = new Set([...reshaped.tools.map(({ name }) => name), 'call_tool', 'find_tools'])
    assert.ok(calls(reshaped).some(({ name }) => name === 'call_tool'))
    const described = new Set<string>()
    for (const step of stepsOf(reshaped))
      for (const [index, call] of callsOf(step).entries()) {
        assert.ok(offered.has(call.name), call.name)
        const [block] = step.results[index]!.content
        if (call.name === 'find_tools' && block?.type === 'text')
          for (const [, name] of block.text.matchAll(/^(\w+)\(input/gm)) described.add(name!)
        if (call.name === 'call_tool') {
          const { name } = call.input as { readonly name: string }
          assert.ok(described.has(name) && used.has(name), name)
        }
      }
  })

  it('says all that was said, in its order', () => {
    const words = (of: RecordedSession): string[] =>
      of.turns.flatMap(({ content }) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
    assert.equal(words(reshaped), words(session))
    const more = stepsOf(reshaped).length - stepsOf(session).length
    const ofOwn = calls(reshaped).filter(({ name }) => name === 'find_tools' || name === 'read_instructions').length
    assert.ok(more > 0)
    assert.is(more, ofOwn)
  })

  it('leaves a small frame as it is', () => {
    const small = generateSession('terminal', 1)
    const same = frameOnDemand(small)
    assert.equal([same.system, same.tools, same.turns], [small.system, small.tools, small.turns])
    assert.is(same.deferred, undefined)
    assert.ok(textTokens(small.system) < 2_000)
  })
})
