import { actorSequence } from '../src/actorSequence.ts'
import { chart } from '../src/chart.ts'
import { conversationGraph, type ConversationSubject } from '../src/conversationGraph.ts'
import { sequenceMermaid } from '../src/sequencePictures.ts'
import { judge, judged } from '../../../test/judges/judge.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { chartedMachines, nasty } from './chartedMachines.ts'
import { calledChild, eventful, largeTrees, treeOf } from './drawnConversations.ts'
import { saidNasty, worked } from './workedAgents.ts'

const timeoutMs = 30_000

interface Purifier {
  sanitize?: (text: string) => string
  addHook?: () => void
}

interface Mermaid {
  parse(text: string): Promise<{ readonly diagramType: string }>
}

/** The kind of diagram that Mermaid's own parser sees. Throws for what it does not accept. */
async function kindOf(text: string): Promise<string> {
  // Mermaid cleans labels by a package that needs a page; what is asked here is only whether it can read them.
  const { default: purifier } = await judge<{ readonly default: Purifier }>('dompurify')
  purifier.sanitize ??= (dirty) => dirty
  purifier.addHook ??= () => {}
  const { default: mermaid } = await judge<{ readonly default: Mermaid }>('mermaid')
  return (await mermaid.parse(text)).diagramType
}

const graphOf = (subject: ConversationSubject): string => conversationGraph(subject, { format: 'mermaid' })

describe('Mermaid', (it) => {
  const reads = judged(it)

  for (const [name, machine] of Object.entries(chartedMachines))
    reads(`reads the chart of ${name}, whichever way it goes`, { timeoutMs }, async () => {
      for (const direction of ['down', 'right'] as const) {
        for (const detail of ['full', 'overview'] as const) {
          const text = chart(machine, { direction, detail })
          assert.is(await kindOf(text), 'stateDiagram')
          assert.not.match(text, '<script')
        }
      }
    })

  reads('reads the graph of a conversation, whatever was said', { timeoutMs }, async () => {
    const log = eventful()
    for (const subject of [
      { id: nasty, conversation: log.conversation, records: calledChild(log) },
      treeOf([null, 1, 1], () => nasty),
      treeOf([]),
    ])
      assert.is(await kindOf(graphOf(subject)), 'flowchart-v2')
  })

  reads('reads the graph of ten thousand nodes, folded for it', { timeoutMs }, async () => {
    for (const [name, subject] of largeTrees(10_000)) assert.is(await kindOf(graphOf(subject)), 'flowchart-v2', name)
  })

  reads('reads who called whom, whatever was said', { timeoutMs }, async (context) => {
    const { root, below } = await worked(context)
    assert.is(await kindOf(sequenceMermaid(actorSequence(saidNasty(root), [below]))), 'sequence')
  })

  reads('reads no syntax that is not its own', { timeoutMs }, async () => {
    const thrown = await kindOf('flowchart LR\n  a["a"] -->> [').catch((error: unknown) => error)
    assert.match(String(thrown), /Parse error/)
  })
})
