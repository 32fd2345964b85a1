import { contentOf } from '../../packages/ag-ui/src/threadMessages.ts'
import { blocksOf } from '../../packages/ag-ui/src/userInput.ts'
import { contentBlock } from '../../packages/acp/src/toolCallShape.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const pdf = {
  type: 'file',
  data: Buffer.from('%PDF-').toString('base64'),
  mimeType: 'application/pdf',
  name: 'a.pdf',
} as const
const wav = { type: 'file', data: Buffer.from('%PDF-').toString('base64'), mimeType: 'audio/wav' } as const

describe('files', (it) => {
  it('go from people and tools to the model, and into the log', async (context) => {
    const bytes = new TextEncoder().encode('%PDF-')
    const { agent, script, records } = await startAgent(context, {
      tools: [
        tool('fetch', () => [
          { type: 'text', text: 'a report' },
          { ...pdf, data: bytes },
        ]),
      ],
      replies: [calls('c', 'fetch'), 'nice'],
    })
    await agent.prompt([{ ...wav, data: bytes }]).result
    assert.equal(script.requests[0]!.messages[0]!.content, [wav])
    assert.equal(script.requests[1]!.messages[2]!.content, [{ type: 'text', text: 'a report' }, pdf])
    const rebuilt = rebuildConversation(await records())
    assert.equal(rebuilt.trunk()[0]!.message.content, [wav])
  })

  it('of a tool must be such, or its call has failed and the model is told why', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [tool('fetch', () => [{ type: 'file', data: '~~', mimeType: 'application/pdf' }])],
      replies: [calls('c', 'fetch'), 'sorry'],
    })
    assert.is((await agent.prompt('go').result).text, 'sorry')
    const result = script.requests[1]!.messages[2]!
    assert.ok(result.role === 'toolResult' && result.isError)
    assert.match(JSON.stringify(result.content), /of a file: its data is not base64/)
  })

  it('hold no secret in their text, whoever gave them', async (context) => {
    const csv = { type: 'file', data: Buffer.from('id,s3cr3t-sign').toString('base64'), mimeType: 'text/csv' } as const
    const { agent, script, records } = await startAgent(context, {
      tools: [tool('fetch', () => [csv])],
      replies: [calls('c', 'fetch'), 'ok'],
      redact: { secrets: { SIGN: 's3cr3t-sign' } },
    })
    await agent.prompt([csv]).result
    const seen = JSON.stringify([script.requests, await records()])
    assert.not.match(seen, csv.data)
    assert.match(seen, Buffer.from('id,[redacted:SIGN]').toString('base64'))
  })

  it('come from AG-UI as sound, video or documents, and go back to it', () => {
    const source = { type: 'data', value: 'AA==' } as const
    const content = [
      { type: 'audio' as const, source: { ...source, mimeType: 'audio/wav' } },
      { type: 'video' as const, source: { ...source, mimeType: 'video/mp4' } },
      { type: 'document' as const, source: { ...source, mimeType: 'application/pdf' } },
    ]
    const blocks = blocksOf({ id: 'm1', role: 'user', content })
    assert.equal(
      blocks,
      ['audio/wav', 'video/mp4', 'application/pdf'].map((mimeType) => ({ type: 'file', data: 'AA==', mimeType })),
    )
    assert.equal(contentOf(blocks), content)
  })

  it('are sound and resources over ACP', () => {
    assert.equal(contentBlock(wav), { type: 'audio', data: wav.data, mimeType: 'audio/wav' })
    assert.equal(contentBlock(pdf), {
      type: 'resource',
      resource: { blob: pdf.data, mimeType: 'application/pdf', uri: 'attachment:a.pdf' },
    })
  })
})
