import { someRuns } from '../../../test/support/seeds.ts'
import * as fc from 'fast-check'
import { XMLValidator } from 'fast-xml-parser'
import {
  conversationFormats,
  conversationGraph,
  type ConversationFormat,
  type ConversationSubject,
} from '../src/conversationGraph.ts'
import { conversationMermaid } from '../src/conversationMermaid.ts'
import { conversationModel, type ConversationModel } from '../src/conversationModel.ts'
import { conversationSvg } from '../src/conversationSvg.ts'
import { conversationText } from '../src/conversationText.ts'
import { textWidth } from '../src/textWidth.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { nasty } from './chartedMachines.ts'
import { calledChild, eventful, largeTrees, treeOf } from './drawnConversations.ts'

/** Objects that count how often something is read from them. */
function counted<T extends object>(plain: readonly T[]): { readonly items: T[]; readonly reads: number } {
  let reads = 0
  const get = (target: T, name: PropertyKey): unknown => {
    reads += 1
    return Reflect.get(target, name)
  }
  const items = plain.map((item) => new Proxy(item, { get }))
  return {
    items,
    get reads() {
      return reads
    },
  }
}

describe('the graph of a conversation', (it) => {
  it('has tags, prunes, compactions, repeated messages and sub-agents in their places', () => {
    const log = eventful()
    const graph = conversationGraph(
      { id: 'a', conversation: log.conversation, records: calledChild(log) },
      { format: 'json' },
    )
    const step = (id: string) => graph.steps.find((one) => one.id === id)!
    assert.equal(step('n2').agents, [{ agentId: 'a.1', callId: 'c0' }])
    assert.equal(graph.agents, [{ agentId: 'a.s2' }])
    assert.equal([step('n2').hiddenBy, graph.prunes[0]?.steps, graph.prunes[0]?.memo], ['p1', ['n2'], 'a.ts is short'])
    assert.is(step('n2').tags[0]?.kind, 'lesson')
    assert.equal(
      graph.compactions.map(({ isInForce }) => isInForce),
      [true],
    )
    const again = graph.steps.find(({ rebasedFrom }) => rebasedFrom !== undefined)
    assert.is(again?.rebasedFrom, 6)
    assert.equal([step('n4').isOnTrunk, step('n6').isOnTrunk, again?.isOnTrunk], [false, false, true])
    assert.is(graph.head, log.conversation.head)
    assert.equal(JSON.parse(JSON.stringify(graph)), graph)
  })

  it('of a live conversation has prunes and the compaction in force, without its log', () => {
    const { conversation } = eventful()
    const graph = conversationGraph({ id: 'a', conversation, children: () => [{ id: 'a.7' }] }, { format: 'json' })
    assert.equal([graph.prunes.length, graph.compactions.length, graph.agents], [1, 1, [{ agentId: 'a.7' }]])
  })

  it('as Mermaid has a box for steps that follow each other, and what was learned at the end of what was given up', () => {
    const log = eventful()
    const mermaid = conversationGraph(
      { id: 'a', conversation: log.conversation, records: calledChild(log) },
      { format: 'mermaid' },
    )
    const [, given] = /(s\d+)\["n4–n5 [^"]*<br\/>n6 [^"]*<br\/>n7–n8 [^"]*"\]/.exec(mermaid)!
    const [, hidden] =
      /(s\d+)\["n2–n3 [^"]*\(hidden\)<br\/>#8863; n14 [^"]*<br\/>#9986; hides [^"]*<br\/>#8627; a\.1"\]/.exec(mermaid)!
    const [, lesson] = /(x\d+)>"⚑ lesson/.exec(mermaid)!
    assert.match(mermaid, `${given} -.- ${lesson}\n`)
    assert.match(mermaid, `${hidden} -.-> ${given}\n`)
    assert.match(mermaid, `class ${given} abandonedStep`)
    assert.match(mermaid, /\["n9 [^"]*<br\/>n10–n11 [^"]*<br\/>n12–n13 /)
  })

  it('as text tells of all of it below the steps, also in ASCII alone', () => {
    const log = eventful()
    const subject = { id: 'a', conversation: log.conversation, records: calledChild(log) }
    const text = conversationGraph(subject)
    for (const part of ['⚑ lesson', '✂ hides this step', '⊟ n', '↳ a.1', '↳ a.s2', '(n6 again)', '(hidden)', '├─╮'])
      assert.match(text, part)
    // What was said stays as it was said, broken characters too.
    assert.match(
      conversationGraph(subject, { ascii: true }).toWellFormed().replaceAll('\uFFFD', ''),
      /^[\x20-\x7E\n]*$/,
    )
  })

  it('can be read by an XML parser and has no markup of what was said', () => {
    const log = eventful()
    for (const subject of [
      { id: nasty, conversation: log.conversation, records: calledChild(log) },
      treeOf([null, 1, 1], () => nasty),
      treeOf([]),
    ]) {
      const mermaid = conversationGraph(subject, { format: 'mermaid' })
      const svg = conversationGraph(subject, { format: 'svg' })
      assert.is(XMLValidator.validate(svg), true)
      for (const picture of [mermaid, svg]) assert.not.match(picture, '<script')
      assert.not.match(conversationGraph(subject), '\u001B')
    }
  })

  it('shows every step once, after the one it follows, in no more columns than there are', async () => {
    const trees = fc.array(fc.nat(1_000), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(trees, fc.integer({ min: 8, max: 100 }), async (picks, columns) => {
        const subject = treeOf(picks.map((pick, index) => (index === 0 ? null : (pick % index) + 1)))
        const lines = conversationGraph(subject, { columns }).split('\n').filter(Boolean)
        for (const line of lines) assert.ok(textWidth(line) <= columns, line)
        const wide = conversationGraph(subject)
        for (const [index] of picks.entries())
          assert.is([...wide.matchAll(new RegExp(`[●○] n${index + 1} `, 'g'))].length, 1)
        const { steps } = conversationGraph(subject, { format: 'json' })
        const seen = new Set<string | undefined>([undefined])
        for (const { id, parent } of steps) {
          assert.ok(seen.has(parent))
          seen.add(id)
        }
        const svg = conversationGraph(subject, { format: 'svg' })
        assert.is([...svg.matchAll(/<circle class="(?:on|off|hid)"/g)].length, picks.length)
        assert.is(XMLValidator.validate(svg), true)
      }),
      { seed: 7, numRuns: someRuns(60) },
    )
  })

  it('of ten thousand nodes is drawn at once, straight, bushy or deep', { timeoutMs: 20_000 }, () => {
    const many = 10_000
    for (const [name, subject] of largeTrees(many)) {
      for (const format of conversationFormats) conversationGraph(subject, { format })
      const text = conversationGraph(subject)
      assert.is([...text.matchAll(/[●○] n\d+ /g)].length, many, name)
    }
  })

  it('takes work in proportion to its size, whatever its shape', { timeoutMs: 20_000 }, () => {
    const shapes: Record<string, (id: number) => number> = {
      straight: (id) => id - 1,
      bushy: (id) => Math.ceil((id - 1) / 3),
      star: () => 1,
      deep: (id) => Math.max(1, id - 2 + (id % 2)),
    }
    const draw = {
      text: (model: ConversationModel) => conversationText(model, { columns: Infinity, ascii: false }),
      mermaid: conversationMermaid,
      svg: conversationSvg,
    }
    for (const [name, parentOf] of Object.entries(shapes)) {
      const [half, whole] = [500, 1_000].map((size) => {
        const { conversation } = treeOf(Array.from({ length: size }, (_, i) => (i === 0 ? null : parentOf(i + 1))))
        const nodes = counted([...conversation.trunk(), ...conversation.abandoned()])
        const trunkLength = conversation.trunk().length
        const model = conversationModel({
          conversation: {
            trunk: () => nodes.items.slice(0, trunkLength),
            abandoned: () => nodes.items.slice(trunkLength),
          },
        })
        return Object.entries(draw).map(([format, drawn]) => {
          const steps = counted(model.steps)
          drawn({ ...model, steps: steps.items })
          return { format, reads: steps.reads, made: nodes.reads }
        })
      })
      for (const [index, { format, reads, made }] of whole!.entries()) {
        assert.ok(made < 2.5 * half![index]!.made, `${name}: ${half![index]!.made} reads of nodes, then ${made}`)
        assert.ok(
          reads < 2.5 * half![index]!.reads,
          `${name} as ${format}: ${half![index]!.reads} reads, then ${reads}`,
        )
      }
    }
  })

  it('refuses what has no conversation, unknown formats and impossible widths', () => {
    const subject = treeOf([null])
    assert.throws(
      () => conversationGraph(undefined as unknown as ConversationSubject),
      /agent or what loadSession returns/,
    )
    assert.throws(() => conversationGraph(subject, { format: 'png' as ConversationFormat }), /it is "png"/)
    assert.throws(() => conversationGraph(subject, { columns: 0 }), /columns must be 1 or more; it is 0/)
  })
})
