import { XMLValidator } from 'fast-xml-parser'
import { chart } from '../src/chart.ts'
import { lineHeight, type ChartLayout } from '../src/chartLayout.ts'
import { fontSizes } from '../src/pictureStyle.ts'
import { chartModel, type ChartModel } from '../src/chartModel.ts'
import { overviewDrawing } from '../src/overviewDrawing.ts'
import { overviewLayout, overviewSize } from '../src/overviewLayout.ts'
import { overlaps, type Area } from '../src/overviewCurves.ts'
import { overviewModel } from '../src/overviewModel.ts'
import { measureText } from '../src/textMeasure.ts'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import { guardWords } from '../src/conditionWords.ts'
import { supervisorMachine } from '../../../src/machines/supervisorMachine.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { chartedMachines } from './chartedMachines.ts'

const brakes = { revert: true, prune: false, fold: false, stall: true, policies: false }
const whole = chartModel(agentMachine, { brakes })
const outermost = (id: string): string => (id === whole.id ? id : id.split('.')[0]!)

/** Transitions that leave one outermost state for another. */
const crossing = (model: ChartModel): string[] =>
  model.edges
    .filter(({ kind, isInternal }) => kind !== 'initial' && isInternal !== true)
    .filter(({ from, to }) => outermost(from) !== outermost(to))
    .map(({ id }) => id)

function told(model: ChartModel): string[] {
  const { arrows, boxes, bundle } = overviewDrawing(overviewModel(model))
  return [...arrows, ...boxes, bundle].flatMap(({ edges }) => edges)
}

function areasOf({ boxes, arrows }: ChartLayout): (Area & { readonly name: string })[] {
  const labels = arrows.flatMap(({ id, label }) => {
    if (label === undefined) return []
    const width = Math.max(...label.lines.map((line) => measureText(line, fontSizes.label)))
    return [{ name: id, x: label.x + 4, y: label.y, width, height: label.lines.length * lineHeight }]
  })
  return [...labels, ...boxes.filter(({ isOuter }) => !isOuter).map((box) => ({ ...box, name: box.id }))]
}

describe('the overview of an agent', (it) => {
  it('stands for every transition between two of its outermost states, and for no other but brakes', () => {
    const shown = new Set(told(whole))
    assert.equal(
      crossing(whole).filter((id) => !shown.has(id)),
      [],
    )
    const rest = new Set(crossing(whole))
    const others = whole.edges.filter(({ id }) => shown.has(id) && !rest.has(id))
    assert.ok(others.every(({ isBrake, from, to }) => isBrake === true || from === to))
  })

  it('shows a state and a transition that the machine has not had yet', () => {
    const nodes = [...whole.nodes, { id: 'dreaming', label: 'dreaming', kind: 'atomic', parent: whole.id } as const]
    const added = {
      id: 'new',
      from: 'draining.leaving',
      to: 'dreaming',
      event: 'sleep',
      kind: 'event',
      guards: [],
    } as const
    const model = { ...whole, nodes, edges: [...whole.edges, added] }
    assert.ok(told(model).includes('new'))
    const layout = overviewLayout(overviewModel(model))
    assert.ok(layout.boxes.some(({ id, y, height }) => id === 'dreaming' && y + height <= layout.height))
    assert.ok(
      layout.boxes
        .find(({ id }) => id === 'draining')!
        .details.join(' ')
        .includes('also → preparing, dreaming'),
    )
  })

  it('draws a run as a ring, and one arrow from everywhere to where it stops', () => {
    const { arrows } = overviewLayout(overviewModel(whole))
    const ring = arrows.filter(({ role }) => role === 'ring').map(({ from, to }) => `${from} ${to}`)
    assert.equal(ring.toSorted(), ['draining replying', 'executing draining', 'idle replying', 'replying executing'])
    assert.is(arrows.filter(({ role }) => role === 'bundle').length, 1)
    const pairs = arrows.map(({ from, to }) => `${from} ${to}`)
    assert.is(new Set(pairs).size, pairs.length, 'one arrow for a pair of states')
    assert.ok(arrows.every(({ to }) => !['paused', 'settling', 'stopped'].includes(to)))
    assert.equal(
      arrows
        .filter(({ role }) => role === 'ring')
        .map(({ label }) => label!.lines[0]!.replace(' …', ''))
        .toSorted(),
      ['a message', 'calls done', 'must reply', 'reply with calls'],
    )
  })

  for (const [what, flags] of [
    ['known', brakes],
    ['not known', undefined],
  ] as const)
    it(`has no label or state on another, and everything inside, with its brakes ${what}`, () => {
      const layout = overviewLayout(overviewModel(chartModel(agentMachine, { brakes: flags, title: 'coder-1' })))
      const areas = areasOf(layout)
      for (const [index, area] of areas.entries())
        for (const other of areas.slice(index + 1))
          assert.not(overlaps(area, other), `${area.name} lies on ${other.name}`)
      for (const { name, x, y, width, height } of areas)
        assert.ok(x >= 0 && y >= 0 && x + width <= layout.width && y + height <= layout.height, name)
      assert.equal([layout.width, layout.height], [overviewSize.width, overviewSize.height])
    })

  it('can be read at a width of 800 pixels: no text is smaller than 12', async () => {
    const svg = await chart(agentMachine, { format: 'svg' })
    const width = Number(/viewBox="0 0 (\d+)/.exec(svg)![1])
    const sizes = [...svg.matchAll(/font-size: ([\d.]+)px/g)].map(([, size]) => (Number(size) * 800) / width)
    assert.ok(sizes.length > 4)
    assert.ok(Math.min(...sizes) >= 12, `${Math.min(...sizes)} px`)
  })

  it('says which brakes are open, and lights the outermost state', async () => {
    const live = { id: 'coder-1', definition: 'coder', state: 'replying.streaming', braking: brakes }
    const svg = await chart(live, { format: 'svg' })
    assert.is(XMLValidator.validate(svg), true)
    assert.not.match(svg, /<script|\bon\w+="|href|url\(|<foreignObject/i)
    assert.match(svg, /class="chip open"[^>]*>→ revert</)
    assert.match(svg, /class="chip shut"[^>]*>× prune</)
    assert.match(svg, '<g class="state atomic itself" data-state="replying">')
    assert.match(svg, 'brake shut: never taken')
    assert.match(svg, '<title>The model answers.')
    assert.match(svg, /<title>executing → draining: call done \[isLastCall\]\s/)
    assert.match(await chart(agentMachine, { format: 'svg' }), /class="chip brake"[^>]*>revert</)
  })

  it('is the default of an SVG of an agent, and of nothing else', async () => {
    assert.is(chart(agentMachine, { format: 'json' }).detail, undefined)
    assert.match(chart(agentMachine), 'draining_reverts')
    assert.not.match(await chart(agentMachine, { format: 'svg' }), 'draining.reverts')
    const folded = chart(agentMachine, { format: 'json', detail: 'overview' })
    assert.is(folded.detail, 'overview')
    assert.not.match(chart(agentMachine, { detail: 'overview' }), 'draining_reverts')
    assert.match(chart(agentMachine, { detail: 'overview' }), /replying --> executing : reply with calls/)
    assert.match(await chart(supervisorMachine, { format: 'svg' }), 'opening')
  })

  it('names every guard of the machine in words', () => {
    const guards = new Set(whole.edges.flatMap((edge) => edge.guards))
    assert.equal(
      [...guards].filter((name) => !Object.hasOwn(guardWords, name)),
      [],
    )
  })
})

describe('the overview of any machine', (it) => {
  for (const [name, machine] of Object.entries(chartedMachines))
    it(`closes the outermost states of ${name}`, { timeoutMs: 30_000 }, async () => {
      const folded = chart(machine, { format: 'json', detail: 'overview' })
      const full = chart(machine, { format: 'json' })
      assert.ok(folded.nodes.every(({ parent }) => parent === undefined || parent === folded.id))
      assert.is(
        folded.nodes.length,
        full.nodes.filter(({ parent }) => parent === undefined || parent === full.id).length,
      )
      const svg = await chart(machine, { format: 'svg', detail: 'overview' })
      assert.is(XMLValidator.validate(svg), true)
    })
})
