import { chartDrawing } from '../src/chartDrawing.ts'
import { toElk, type ElkGraph } from '../src/chartLayout.ts'
import { chartModel } from '../src/chartModel.ts'
import { hubExits } from '../src/hubExits.ts'
import { layoutKey, layoutOf } from '../src/layoutCache.ts'
import { servedChart } from '../src/servedChart.ts'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import { supervisorMachine } from '../../../src/machines/supervisorMachine.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const flags = { revert: true, prune: false, fold: false, stall: false, policies: false }
const drawingOf = (options: Parameters<typeof chartModel>[1]) =>
  hubExits(chartDrawing(chartModel(agentMachine, options)))

/** A layouter that is finished by hand, and notes whether it was to stop. */
function byHand() {
  const calls: {
    readonly graph: ElkGraph
    readonly signal: AbortSignal
    readonly finish: (graph: ElkGraph) => void
  }[] = []
  const layOut = (graph: ElkGraph, signal: AbortSignal): Promise<ElkGraph> => {
    const { promise, resolve, reject } = Promise.withResolvers<ElkGraph>()
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    calls.push({ graph, signal, finish: resolve })
    return promise
  }
  const begun = async (): Promise<void> => {
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return { calls, layOut, begun }
}

/** No chart of the project, so that neither the build nor another case has laid it out. */
const odd = (title: string) => ({
  title,
  nodes: [{ id: title, kind: 'atomic', label: title, details: [] } as const],
  arrows: [],
})

describe('a layout', (it) => {
  it('is the same whatever the agent is called, whichever state it is in and however its brakes stand', () => {
    const key = layoutKey(toElk(drawingOf({ brakes: flags })))
    assert.is(layoutKey(toElk(drawingOf({ title: 'a much longer name', active: ['idle'], brakes: flags }))), key)
    assert.is(layoutKey(toElk(drawingOf({ brakes: { ...flags, revert: false, fold: true } }))), key)
    assert.is(layoutKey(toElk(drawingOf({}))), key)
    assert.is.not(layoutKey(toElk(drawingOf({ without: ['settle'] }))), key)
  })

  it('is made once for all who want it, also later', async () => {
    const { calls, layOut, begun } = byHand()
    const both = [layoutOf(odd('once'), 'down', { layOut }), layoutOf(odd('once'), 'down', { layOut })]
    await begun()
    calls[0]!.finish({ ...calls[0]!.graph, width: 7 })
    for (const { width } of await Promise.all(both)) assert.is(width, 7)
    assert.is((await layoutOf(odd('once'), 'down', { layOut })).width, 7)
    assert.is(calls.length, 1)
  })

  it('goes on while somebody waits for it, and ends with the last who does', async () => {
    const { calls, layOut, begun } = byHand()
    const [first, second] = [new AbortController(), new AbortController()]
    const one = layoutOf(odd('left'), 'down', { layOut, signal: first.signal })
    const other = layoutOf(odd('left'), 'down', { layOut, signal: second.signal })
    await begun()
    first.abort(new Error('the first has gone'))
    await assert.rejects(one, /the first has gone/)
    assert.not(calls[0]!.signal.aborted)
    second.abort(new Error('the second has gone'))
    await assert.rejects(other, /the second has gone/)
    assert.ok(calls[0]!.signal.aborted)
  })

  it('is tried again after it failed', async () => {
    let tries = 0
    const layOut = async (graph: ElkGraph): Promise<ElkGraph> => {
      if (++tries === 1) throw new Error('no thread')
      return graph
    }
    await assert.rejects(layoutOf(odd('again'), 'down', { layOut }), /no thread/)
    await layoutOf(odd('again'), 'down', { layOut })
    assert.is(tries, 2)
  })
})

describe('a chart for pages', (it) => {
  it('has its overview in place, of this agent and with no state lit', async () => {
    const model = { ...chartModel(agentMachine, { title: 'a', brakes: flags }), active: ['idle'] }
    const { overview, full, active } = await servedChart(model)
    assert.is(full, undefined)
    assert.equal(active, ['idle'])
    assert.ok(overview!.boxes.every((box) => box.active === undefined))
    const again = await servedChart({ ...model, title: 'b' })
    assert.equal([again.overview!.title, again.overview!.boxes[0]!.label], ['b', 'b (agent@1)'])
    assert.equal(again.overview!.arrows, overview!.arrows)
    assert.is(overview!.boxes[0]!.label, 'a (agent@1)')
  })

  it('has none of a machine that is no agent', async () => {
    assert.is((await servedChart(chartModel(supervisorMachine))).overview, undefined)
  })
})
