import type { Model, RequestMessage } from '../../src/index.ts'

/** The least a tool loop can be: no chart, no tree, no log, no limits. The baseline of every figure. */
export async function floorLoop(
  model: Model,
  tools: Readonly<Record<string, (input: unknown) => Promise<string> | string>>,
  prompt: string,
  onDelta: (text: string) => void,
): Promise<number> {
  const messages: RequestMessage[] = [{ role: 'user', content: [{ type: 'text', text: prompt }] }]
  const { signal } = new AbortController()
  for (let turn = 0; ; turn++) {
    const options = { signal, turnIndex: turn }
    let hasCalls = false
    for await (const part of model.stream({ system: '', messages, tools: [], settings: {} }, options)) {
      if (part.type === 'text.delta') onDelta(part.text)
      else if (part.type === 'done') {
        messages.push({ role: 'assistant', content: part.reply.content })
        for (const block of part.reply.content) {
          if (block.type !== 'toolCall') continue
          hasCalls = true
          const text = await tools[block.name]!(block.input)
          messages.push({
            role: 'toolResult',
            callId: block.callId,
            toolName: block.name,
            content: [{ type: 'text', text }],
            isError: false,
          })
        }
      }
    }
    if (!hasCalls) return turn + 1
  }
}
