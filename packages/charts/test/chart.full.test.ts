import { XMLValidator } from 'fast-xml-parser'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import { supervisorMachine } from '../../../src/machines/supervisorMachine.ts'
import { chart, type ChartSubject } from '../src/chart.ts'
import { chartDrawing } from '../src/chartDrawing.ts'
import { chartModel } from '../src/chartModel.ts'
import { boxLines, fromElk, lineHeight, toElk, type ChartLayout } from '../src/chartLayout.ts'
import { fontSizes } from '../src/pictureStyle.ts'
import { chartSvg } from '../src/chartSvg.ts'
import { hubExits } from '../src/hubExits.ts'
import { layoutInWorker } from '../src/layoutInWorker.ts'
import { measureText } from '../src/textMeasure.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { chartedMachines } from './chartedMachines.ts'

const timeoutMs = 30_000
const definition = (braking = {}, agents = {}) =>
  defineAgent({ name: 'coder', model: scriptedModel([]), braking, ...agents })
const live = (state: string): ChartSubject => ({
  id: 'coder-1',
  definition: 'coder',
  state,
  braking: { revert: true, prune: false, fold: false, stall: false, policies: false },
})

interface Area {
  readonly name: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const overlap = (a: Area, b: Area): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** Labels, and boxes that hold no others: none of them may lie on another. */
function areasOf({ boxes, arrows }: ChartLayout): Area[] {
  const labels = arrows.flatMap(({ id, label }) => {
    if (label === undefined) return []
    const width = Math.max(...label.lines.map((line) => measureText(line, fontSizes.label)))
    return [{ name: id, x: label.x + 4, y: label.y, width, height: label.lines.length * lineHeight }]
  })
  const inner = boxes.filter(({ isOuter }) => !isOuter).map(({ id, ...box }) => ({ ...box, name: id }))
  return [...labels, ...inner]
}

describe('a chart', (it) => {
  for (const [name, machine] of Object.entries(chartedMachines)) {
    for (const direction of ['down', 'right'] as const) {
      it(
        `of ${name} going ${direction} stands alone as sound XML, no label on another or on a state`,
        { timeoutMs },
        async () => {
          const drawing = hubExits(chartDrawing(chartModel(machine)))
          const laidOut = fromElk(await layoutInWorker(toElk(drawing, direction)), drawing)
          const areas = areasOf(laidOut)
          for (const [index, area] of areas.entries())
            for (const other of areas.slice(index + 1))
              assert.not(overlap(area, other), `${area.name} lies on ${other.name}`)
          for (const { x, y, width, height } of areas)
            assert.ok(x >= 0 && y >= 0 && x + width <= laidOut.width && y + height <= laidOut.height)
          for (const box of laidOut.boxes)
            for (const { text, indent, name: to = '' } of boxLines(box))
              assert.ok(indent + measureText(to + text, fontSizes.detail) <= box.width, `${box.id}: ${text}`)
          for (const { id, points } of laidOut.arrows) assert.ok(points.length > 1, id)
          const svg = chartSvg(laidOut)
          assert.is(XMLValidator.validate(svg), true)
          assert.not.match(svg, /<script|\bon\w+="|href|url\(|<foreignObject/i)
          assert.match(svg, 'prefers-color-scheme: dark')
          assert.match(svg, /<title id="title">Statechart of [^<]+<\/title>\s*<desc id="desc">[^<]+<\/desc>/)
        },
      )
    }
  }

  it('of a definition draws its brakes open or shut, in every format', { timeoutMs }, async () => {
    const half = definition({ prune: true })
    assert.match(chart(half), /draining_reverts : \[revertEnabled\]<br\/>brake shut/)
    assert.match(chart(half), /draining_prunes : \[pruneEnabled\]<br\/>brake open/)
    assert.equal(chart(half, { format: 'json' }).brakes, {
      revert: false,
      prune: true,
      fold: false,
      stall: false,
      policies: false,
    })
    const svg = await chart(half, { format: 'svg', detail: 'full' })
    assert.match(svg, /<g class="open">/)
    assert.match(svg, /<g class="shut"><path class="arrow"[^>]*\/><path class="head"[^>]*\/><path class="cross"/)
    assert.match(svg, 'draining.entering to draining.prunes is open')
    assert.match(svg, 'draining.grafted to draining.folding is shut')
    assert.match(svg, /<path class="cross"[^>]*\/><text [^>]*><tspan class="to">folding<\/tspan> \[foldEnabled\]/)
    const explained = async (picture: Promise<string>): Promise<string[]> =>
      [...(await picture).matchAll(/class="told"[^>]*>([^<]*)</g)].map(([, text]) => text!)
    const own = ['event [guard that must hold]', 'brake open', 'brake shut: never taken']
    assert.equal(await explained(Promise.resolve(svg)), own, 'no sub-agents, so nothing runs as an actor')
    const without = ['event [guard that must hold]', 'runs: an actor of the state', 'brake']
    assert.equal(await explained(chart(agentMachine, { format: 'svg', detail: 'full' })), without)
    assert.not.match(chart(agentMachine), /brake (open|shut)/)
  })

  it('draws one way to each brake and writes the others into the states that they leave, none lost', () => {
    const drawing = chartDrawing(chart(definition({ prune: true }), { format: 'json' }))
    const { arrows, nodes } = hubExits(drawing)
    const isBrake = ({ style }: { readonly style: string }): boolean => style === 'open' || style === 'shut'
    assert.equal(
      arrows.filter(isBrake).map(({ from, to }) => [from, to]),
      ['undoing', 'checking', 'reverts', 'prunes', 'consulting', 'folding'].map((to) => [
        'draining.entering',
        `draining.${to}`,
      ]),
    )
    const { exits = [] } = nodes.find(({ id }) => id === 'draining.grafted')!
    assert.equal(
      exits.filter(isBrake).map(({ name, when, style }) => [name, when, style]),
      [
        ['prunes', '[pruneEnabled]', 'open'],
        ['consulting', '[consultEnabled]', 'shut'],
        ['folding', '[foldEnabled]', 'shut'],
      ],
    )
    const pairs = (from: string, to: string): string => `${from} → ${to}`
    const outer = new Map(drawing.nodes.flatMap(({ id, kind, parent }) => (kind === 'any' ? [[id, parent!]] : [])))
    const shown = [
      ...arrows.map(({ from, to }) => pairs(outer.get(from) ?? from, to)),
      ...nodes.flatMap((node) => (node.exits ?? []).map(({ to }) => pairs(node.id, to))),
    ]
    for (const { from, to } of drawing.arrows) assert.ok(shown.includes(pairs(outer.get(from) ?? from, to)), to)
  })

  it('says what to do where the file that lays it out was left behind', async () => {
    const graph = toElk(hubExits(chartDrawing(chartModel(agentMachine))))
    const gone = new URL('./notHere.js', import.meta.url)
    const thrown = await assert.rejects(layoutInWorker(graph, undefined, gone), RuntimeError)
    assert.is((thrown as RuntimeError).code, 'FILE_MISSING')
    assert.match(
      (thrown as RuntimeError).message,
      /layoutWorker\.js, one of which is not there\. Keep escapement out of the bundle/,
    )
    // The worker is there, and what it loads is not.
    const without = await assert.rejects(layoutInWorker(graph, undefined, undefined, gone), RuntimeError)
    assert.is((without as RuntimeError).code, 'FILE_MISSING')
  })

  it('of a definition with sub-agents has the supervisor, and without has none', () => {
    const json = (agents: object) => chart(definition({}, agents), { format: 'json' }).machines.map(({ id }) => id)
    assert.equal(json({}), [])
    assert.equal(json({ agents: [definition()] }), ['supervisor@1'])
    assert.match(chart(agentMachine), /state "supervisor@1 · spawns agent" as/)
  })

  it('lights the states an agent is in, or those that are named', { timeoutMs }, async () => {
    assert.equal(chart(live('replying.streaming'), { format: 'json' }).active, ['replying.streaming'])
    assert.match(chart(live('replying.streaming')), 'class replying_streaming activeState')
    const svg = await chart(live('replying.streaming'), { format: 'svg', detail: 'full', active: ['draining.reverts'] })
    assert.match(svg, '<g class="state atomic itself" data-state="draining.reverts">')
    assert.match(svg, /<g class="state compound inside[^"]*" data-state="draining">/)
    assert.not.match(svg, /itself" data-state="replying/)
    assert.match(svg, 'Active: draining.reverts.')
  })

  it('is drawn of a live agent', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition(), { id: 'live' })
    const model = chart(agent, { format: 'json' })
    assert.equal([model.title, model.active], ['live', ['idle']])
  })

  it('ends with its signal, and leaves no thread behind', { timeoutMs }, async () => {
    const controller = new AbortController()
    const drawing = chart(agentMachine, { format: 'svg', detail: 'full', signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(drawing, /enough/)
    await assert.rejects(chart(agentMachine, { format: 'svg', detail: 'full', signal: controller.signal }), /enough/)
  })

  it('refuses what is no agent, unknown formats, ways and states, naming what there is', () => {
    const refused = (make: () => unknown, what: RegExp): void => {
      try {
        make()
      } catch (thrown) {
        assert.is((thrown as RuntimeError).code, 'INVALID_OPTION')
        assert.match((thrown as RuntimeError).message, what)
        return
      }
      assert.unreachable(`${what.source} was not refused`)
    }
    refused(() => chart(null as unknown as ChartSubject), /not null/)
    refused(() => chart({} as ChartSubject), /chart takes an agent/)
    refused(() => chart(agentMachine, { format: 'png' as 'svg' }), /format must be mermaid, svg or json; it is "png"/)
    refused(() => chart(agentMachine, { direction: 'up' as 'down' }), /direction must be down or right/)
    refused(() => chart(agentMachine, { detail: 'all' as 'full' }), /detail must be overview or full; it is "all"/)
    refused(() => chart(supervisorMachine, { active: ['flying'] }), /has no state "flying"; there are opening, running/)
    refused(() => chart(live('gone')), /has no state "gone"/)
  })
})
