import * as fc from 'fast-check'
import { nameIndex, readNames } from '../../src/conversation/names/nameIndex.ts'
import { defaultFoldPolicy, type FoldPolicy } from '../../src/conversation/brakes/fold/planFold.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { brakedHistories, foldedHistories, type BrakedHappening } from '../support/brakeArbitraries.ts'
import { happen } from '../support/brakedHappenings.ts'
import { askedFold, BrakeLog } from '../support/brakeLog.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

const policy: FoldPolicy = {
  ...defaultFoldPolicy,
  leastRequests: 0,
  work: 50,
  minBatch: 40,
  keepSteps: 1,
  indexTokens: 40,
  cap: 2_000,
}

/** The same, with names of every worth: some stand in one place, some in many. */
function named(what: BrakedHappening, place: number): BrakedHappening {
  const names = `seenThing${place}x shared_name_${place % 3} class DeclaredName${place % 5}x src/dir/file${place % 4}.ts`
  switch (what.type) {
    case 'user':
    case 'reply':
      return { ...what, words: `${what.words} said_here_${place % 6} shared_name_${place % 3}` }
    case 'step':
      return { ...what, outputs: what.outputs.map((output, at) => `${output} ${names} only_${place}_${at}_x`) }
    default:
      return what
  }
}

/** All steps but the newest, folded; gives the index. */
const indexOf = (log: BrakeLog, maxChars: number): string => {
  const steps = log.conversation.steps().filter(({ nodes }) => nodes[0]!.message.role === 'assistant')
  return nameIndex(log.conversation, new Set(steps.slice(0, -1).map(({ id }) => id)), '', maxChars)
}

const histories = fc.oneof(brakedHistories({ maxLength: 20 }), foldedHistories({ maxLength: 8 }))

describe('the names that are kept from one fold to the next', (it) => {
  it('are those of a conversation rebuilt from the log, after every record', { timeoutMs: 60_000 }, () => {
    let compared = 0
    let indexed = 0
    fc.assert(
      fc.property(histories, fc.boolean(), (happenings, isRebase) => {
        const log: BrakeLog = new BrakeLog({
          policy: { onUserMessage: isRebase ? 'rebase' : 'refuse' },
          after: () => {
            const plan = askedFold(log.conversation, policy)
            assert.equal(askedFold(rebuildConversation(log.records), policy), plan)
            compared += 1
            if (plan?.outcome.index !== undefined) indexed += 1
          },
        })
        log.user('the task')
        happenings.forEach((happening, place) => {
          const isReply = happening.type === 'reply' || happening.type === 'step'
          if (isReply && log.conversation.trunk().at(-1)!.message.role === 'assistant') return
          happen(log, named(happening, place))
        })
      }),
      { seed: 20_260_101, endOnFailure: false, numRuns: someRuns(600) },
    )
    assert.ok(indexed > 200 && compared > 2 * indexed, `${indexed} of ${compared}`)
  })

  it('are the same when they were read in advance, message by message', () => {
    const log = new BrakeLog()
    log.user('the task')
    for (let i = 0; i < 30; i++) {
      log.step([{ input: { path: `src/file${i}.ts` }, output: `only_here_${i} shared_name` }])
      if (i % 7 === 6) log.fold({}, true)
    }
    const again = rebuildConversation(log.records)
    let slices = 0
    for (const _ of readNames(again)) slices += 1
    assert.ok(slices > again.path.length)
    assert.equal(askedFold(again, policy), askedFold(log.conversation, policy))
  })
})

describe('the rank of a name', (it) => {
  const log = (): BrakeLog => {
    const made = new BrakeLog()
    made.user('the task')
    return made
  }

  it('is higher for what the agent wrote itself, the more often and the later', () => {
    const made = log()
    made.step([{ output: 'never_used_name once_used_name often_used_name' }])
    made.step([{ input: { name: 'often_used_name' } }])
    made.step([{ input: { name: 'often_used_name once_used_name' } }])
    made.step([{ output: 'the end' }])
    // Room for one name, then for two.
    assert.match(indexOf(made, 20), /^n\d+ often_used_name$/)
    assert.equal(
      indexOf(made, 45)
        .match(/\w+_used_name/g)
        ?.toSorted(),
      ['often_used_name', 'once_used_name'].toSorted(),
    )
  })

  it('is higher for paths and declarations, and lower for hashes and long ones', () => {
    const made = log()
    const long = `long_${'x'.repeat(60)}`
    made.step([{ output: `0a1b2c3d-4e5f plain_name_1 src/dir/path.ts class DeclaredName1\n${long}` }])
    made.step([{ output: 'the end' }])
    const places = ['src/dir/path.ts', 'DeclaredName1', 'plain_name_1', long].map((name) =>
      Array.from({ length: 200 }, (_, room) => room).find((room) => indexOf(made, room).includes(name)),
    )
    assert.ok(places[0]! < places[2]! && places[1]! < places[2]!, places.join())
    assert.ok(places[2]! < places[3]!, places.join())
  })

  it('is higher the newer the step that holds it, and the newest of equal places is its home', () => {
    const made = log()
    made.step([{ output: 'older_name_1 both_places_1' }])
    for (let i = 0; i < 5; i++) made.step([{ output: 'nothing of note' }])
    made.step([{ output: 'newer_name_1 both_places_1' }])
    made.step([{ output: 'the end' }])
    assert.equal(indexOf(made, 40), 'n14 both_places_1 newer_name_1')
    assert.equal(indexOf(made, 60), 'n2 older_name_1\nn14 both_places_1 newer_name_1')
  })

  it('does not depend on the order in which names of the same rank were met', () => {
    const [made, other] = [log(), log()]
    made.step([{ output: 'name_b_11 name_a_11 name_c_11' }])
    other.step([{ output: 'name_c_11 name_b_11 name_a_11' }])
    for (const each of [made, other]) each.step([{ output: 'the end' }])
    assert.equal(indexOf(made, 24), 'n2 name_a_11 name_b_11')
    assert.equal(indexOf(other, 24), 'n2 name_a_11 name_b_11')
  })

  it('keeps a name in the home that says most, though a step hidden later is older', () => {
    const made = log()
    for (let i = 0; i < 4; i++) made.step([{ output: `place_${i}_x ${'w '.repeat(50)}` }])
    made.pin('n2')
    made.fold({ keepSteps: 0 }, true)
    made.pin('n2', false)
    made.step([{ output: 'place_9_x' }])
    made.step([{ output: 'the end' }])
    const first = indexOf(made, 1_000)
    assert.match(first, /^n2 place_0_x$/m)
    assert.equal(indexOf(made, 1_000), first)
    // Three of equal worth fit: the newest.
    assert.equal(indexOf(made, 45), 'n6 place_2_x\nn8 place_3_x\nn10 place_9_x')
  })

  it('finds the newest names though those of an older step came last, and are many', () => {
    const made = log()
    made.step([{ output: Array.from({ length: 100 }, (_, n) => `older_name_${n}_x`).join(' ') }])
    for (let i = 0; i < 3; i++) made.step([{ output: `newer_name_${i}` }])
    made.pin('n2')
    made.step([{ output: 'the end' }])
    made.fold({ keepSteps: 1, indexTokens: 100 }, true)
    made.pin('n2', false)
    assert.match(indexOf(made, 52), /newer_name_0[^]*newer_name_1[^]*newer_name_2/)
  })

  it('counts thousands of names of which one has a home in every step', () => {
    const made = log()
    for (let i = 0; i < 60; i++) {
      const names = Array.from({ length: 40 }, (_, n) => `name_${i}_${n}_x`).join(' ')
      made.step([{ output: `every_where_1 every_where_2 ${names}` }])
      if (i % 5 === 0) made.fold({ keepSteps: 1 }, true)
    }
    made.step([{ output: 'the end' }])
    const index = indexOf(made, 300)
    assert.match(index, /^n120 .*every_where_1/m)
    assert.is(index.match(/every_where_1/g)?.length, 1)
    const again = rebuildConversation(made.records)
    assert.equal(askedFold(again, policy), askedFold(made.conversation, policy))
  })
})
