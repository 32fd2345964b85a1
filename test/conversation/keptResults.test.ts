import { factsOf, renderFacts } from '../../src/conversation/tree/facts.ts'
import { maskOf } from '../../src/conversation/request/maskedResults.ts'
import { namesOf } from '../../src/conversation/names/names.ts'
import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import { artifactName, artifactNames } from '../../src/protocol/artifacts/artifact.ts'
import { textOf, type ToolResultMessage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

const artifact = { id: 'ab'.repeat(32), agentId: 'a1', bytes: 50_000, mimeType: 'text/plain' }
const name = artifactName(artifact)
const message: ToolResultMessage = {
  role: 'toolResult',
  callId: 'c1',
  toolName: 'logs',
  content: [
    { type: 'text', text: 'x '.repeat(500) },
    { type: 'text', text: `[${name}: all of it is kept.]` },
  ],
  isError: false,
  artifacts: [artifact],
}
const node = (more: object = {}) => ({ id: 3, stepId: 2, message, ...more }) as unknown as ConversationNode

describe('the name of what is kept of a result', (it) => {
  it('is found in a text', () => {
    assert.is(name, 'artifact_abababababab')
    assert.equal(artifactNames(`see ${name}, and ${name}ff`), [name])
  })

  it('stays when a mask hides the result', () => {
    assert.match(textOf(maskOf(node())!.content), `\n[kept: ${name}]`)
  })

  it('stays when its step is hidden, whatever else is told of the call', () => {
    const [fact] = factsOf([node()])
    assert.equal([fact!.kind, fact!.outcome], ['kept', name])
    assert.match(renderFacts([fact!], [2]), `can be read on: logs  → ${name}`)
    const [bound] = factsOf([node({ isIrreversible: true })])
    assert.is(bound!.kind, 'irreversible')
    assert.match(bound!.outcome, new RegExp(`^x .*, ${name}$`))
  })

  it('is worth more than other names in the index of a fold', () => {
    const worth = namesOf(node())
    assert.ok(worth.get(name)! >= 4, String(worth.get(name)))
  })
})
