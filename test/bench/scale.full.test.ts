import { everydayLoad, measuredCosts, smallTopology } from '../../tools/bench/scale/costs.ts'
import { ConnectionPool, Database } from '../../tools/bench/scale/database.ts'
import { climb, simulate } from '../../tools/bench/scale/limits.ts'
import { recoveries } from '../../tools/bench/scale/recoveries.ts'
import { Gate, Station } from '../../tools/bench/scale/station.ts'
import { type Process, Timeline } from '../../tools/bench/scale/timeline.ts'
import { WarmAgents } from '../../tools/bench/scale/warmAgents.ts'
import { randomNumbers } from '../../packages/evaluation/src/statistics/randomNumbers.ts'
import { assert, describe } from '../support/suite.ts'

const load = { ...everydayLoad, agents: 10_000 }
const roomy = { ...smallTopology, workers: 2, invocations: 100_000 }

describe('the simulation of many agents', (it) => {
  it('lets jobs wait as long as the theory of a queue with one server says', () => {
    const timeline = new Timeline()
    const station = new Station(timeline, 1)
    const random = randomNumbers(1)
    let waited = 0
    let jobs = 0
    function* job(): Process {
      const begun = timeline.now
      yield station.work(1)
      waited += timeline.now - begun - 1
      jobs += 1
    }
    const come = (): void => {
      timeline.start(job())
      timeline.at(timeline.now - 2 * Math.log(1 - random()), come)
    }
    come()
    timeline.runUntil(100_000)
    // A fixed service time at half load: the mean wait is half of it.
    assert.ok(Math.abs(waited / jobs - 0.5) < 0.03, `${waited / jobs}`)
    assert.ok(Math.abs(station.busyMs / 100_000 - 0.5) < 0.02)
  })

  it('serves in the order in which jobs came, as many at once as there are servers', () => {
    const timeline = new Timeline()
    const station = new Station(timeline, 2)
    const ended: string[] = []
    for (const [name, ms] of [
      ['a', 5],
      ['b', 1],
      ['c', 1],
      ['d', 9],
    ] as const)
      station.work(ms)(() => ended.push(`${name} at ${timeline.now}`))
    timeline.runUntil(100)
    assert.equal(ended, ['b at 1', 'c at 2', 'a at 5', 'd at 11'])
    assert.is(station.longest, 2)
  })

  it('begins nothing in what is away, and goes on afterwards', () => {
    const timeline = new Timeline()
    const station = new Station(timeline, 1)
    let endedAt = 0
    station.isAway = true
    station.work(1)(() => (endedAt = timeline.now))
    timeline.at(50, () => (station.isAway = false))
    timeline.runUntil(100)
    assert.is(endedAt, 51)
  })

  it('keeps those outside who come while a gate is full', () => {
    const gate = new Gate(1)
    const inside: number[] = []
    for (const one of [1, 2, 3]) gate.enter(() => inside.push(one))
    assert.equal(inside, [1])
    gate.leave()
    assert.equal([inside, gate.waited, gate.most], [[1, 2], 2, 1])
  })

  it('sends what waits in one statement, and flushes once for those that wait', () => {
    const timeline = new Timeline()
    const database = new Database(timeline, 8, {
      ...measuredCosts.database,
      roundTripMs: 1,
      statementMs: 1,
      flushMs: 10,
    })
    const pools = [1, 2, 3].map(() => new ConnectionPool(timeline, database, 1))
    let stored = 0
    for (const pool of pools) for (let agent = 0; agent < 300; agent += 1) pool.append(1)(() => (stored += 1))
    timeline.runUntil(1_000)
    assert.equal([stored, database.records], [900, 900])
    // 256 in the first, 44 in the second.
    assert.is(database.statements, 6)
    assert.ok(database.flushBusyMs <= 60, `${database.flushBusyMs}`)
  })

  it('keeps those agents warm that were used last', () => {
    const warm = new WarmAgents(2)
    assert.equal(
      [1, 2, 1, 3, 1, 2].map((agent) => warm.use(agent)),
      [false, false, true, false, true, false],
    )
    warm.drop(1)
    assert.is(warm.use(1), false)
    assert.is(warm.size, 2)
  })

  it('comes to the same for the same seed, and answers as many prompts as are asked', () => {
    const [one, again, other] = [1, 1, 2].map((seed) =>
      simulate(roomy, { ...load, promptsPerSecond: 40 }, measuredCosts, 60, seed),
    )
    assert.equal(plain(one!), plain(again!))
    assert.is.not(one!.p99, other!.p99)
    assert.ok(Math.abs(one!.answersPerSecond - 40) < 8, `${one!.answersPerSecond}`)
    assert.ok(one!.p50 > 1 && one!.p50 < one!.p99)
  })

  it('names what is used up first, and does what helps until the load is borne', { timeoutMs: 20_000 }, () => {
    const { rungs, topology, outcome } = climb(
      smallTopology,
      { ...load, promptsPerSecond: 75, modelMs: 1_500 },
      measuredCosts,
      {
        most: 600,
        seconds: 10,
      },
    )
    const met = rungs.map(({ limit }) => limit.name)
    assert.is(met[0], 'invocations at once', met.join())
    assert.ok(rungs.some(({ limit }) => limit.name === 'worker processes'))
    assert.ok(topology.workers > smallTopology.workers)
    for (const { name, used } of outcome.uses) assert.ok(used <= 0.7, `${name}: ${used}`)
  })

  it('answers late what a dead worker had, and everything again later', () => {
    const [nothing, one, all, database] = recoveries(roomy, { ...load, promptsPerSecond: 30 }, measuredCosts, 1)
    assert.is(nothing!.late, 0)
    assert.ok(one!.late > 0 && all!.late > one!.late, `${one!.late} of one, ${all!.late} of all`)
    assert.ok(database!.slowestMs >= 9_000 && database!.slowestMs < 25_000, `${database!.slowestMs}`)
    for (const { usualAfterMs } of [one!, all!, database!]) assert.ok(usualAfterMs < 59_000)
  })
})

/** Comparable part of an outcome. */
const plain = ({ uses, ...rest }: ReturnType<typeof simulate>): unknown => ({
  ...rest,
  uses: uses.map(({ name, used }) => ({ name, used })),
})
