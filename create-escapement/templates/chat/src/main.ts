import { createInterface } from 'node:readline/promises'
import { createRuntime, fileStore } from 'escapement'
import { assistant } from './agent.ts'
import { chooseModel } from './model.ts'

const runtime = await createRuntime({ store: fileStore('.escapement') })
// The one of the last time, if there is one.
const agent = await runtime.open('chat', assistant(chooseModel(), 'notes.txt'))

const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
let isOpen = true
terminal.once('close', () => (isOpen = false))
// Ctrl-C stops the answer; where none is being given it ends the chat.
terminal.on('SIGINT', () => (agent.state === 'idle' ? terminal.close() : agent.abort()))
terminal.prompt()
for await (const line of terminal) {
  if (line.trim() !== '') {
    const run = agent.prompt(line)
    for await (const event of run) {
      if (event.type === 'reply.delta') process.stdout.write(event.text)
      if (event.type === 'tool.start') process.stdout.write(`[${event.name}] `)
    }
    const result = await run.result
    if (result.stopReason !== 'stop') process.stdout.write(`(${result.error?.message ?? result.stopReason})`)
    process.stdout.write('\n')
  }
  // The last answer may still have been given when the input ended.
  if (isOpen) terminal.prompt()
}
await runtime.close()
