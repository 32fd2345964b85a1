// node examples/apps/release/server.ts <folder> <port> <token> — without a key: the model is a function.
import { policyModel } from '../../../src/index.ts'
import { serveClerk } from './release.ts'

/** A script as a language model would write it. */
const script = `const names = ['clock', 'spring', 'wheel']
const passed = await Promise.all(names.map((name) => tools.test({ name })))
for (const [at, name] of names.entries()) if (passed[at].passed) console.log(await tools.publish({ name }))
return names.length + ' packages at ' + Math.random().toFixed(6)`

const model = policyModel(({ messages }) => {
  const results = messages.filter(({ role }) => role === 'toolResult').length
  if (results === 0) return { toolCalls: [{ name: 'build', input: {} }] }
  if (results === 1) return { toolCalls: [{ name: 'run_code', input: { code: script } }] }
  const texts = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  )
  return texts.at(-1)?.includes('are built') === true
    ? 'The build has reported: all is released.'
    : 'Published; the build goes on.'
})

const [folder = '', port = '0', token = ''] = process.argv.slice(2)
const { url } = await serveClerk(folder, Number(port), token, model)
process.send?.(url)
// With the program that started it.
process.once('disconnect', () => process.exit())
