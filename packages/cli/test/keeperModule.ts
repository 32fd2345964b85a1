import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A file of the sources, as an address to import it from. */
export const sourceUrl = (file: string): string =>
  pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src', file)).href

/**
 * The text of a module with the agent "keeper", which has the tool "wind" that asks first, and prints what is no protocol. `answer`: lines
 * that say what its model does with `messages`, of which `last` is no result.
 */
export const keeperModule = (
  answer: string,
): string => `import { defineAgent, defineTool, policyModel } from '${sourceUrl('index.ts')}'
const wind = defineTool({ name: 'wind', description: 'Wind.', input: { jsonSchema: { type: 'object' } }, needsApproval: true, run: () => 'wound' })
console.log('this is no protocol')
process.stdout.write('nor this')
export const keeper = defineAgent({
  name: 'keeper',
  tools: [wind],
  model: policyModel(({ messages }) => {
    const last = messages.at(-1)
    if (last.role === 'toolResult') return 'It is ' + last.content[0].text
    ${answer}
  }),
})
`
