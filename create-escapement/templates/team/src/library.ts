import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool } from 'escapement'
import { z } from 'zod'

const shelf: Readonly<Record<string, string>> = {
  verge: 'The verge escapement drove clocks from about 1300 on; it lost or gained a quarter of an hour a day.',
  anchor: 'The anchor escapement (about 1657) let the pendulum swing less, and clocks err by seconds a day.',
  lever: 'The lever escapement (about 1755) made watches that go on when they are shaken.',
}

/** Searches a small library: put your own search in its place. */
export const search = defineTool({
  name: 'search',
  description: 'Searches the library for a word.',
  input: z.object({ word: z.string() }),
  effects: 'none',
  run: ({ word }) => {
    const found = Object.values(shelf).filter((text) => text.toLowerCase().includes(word.toLowerCase()))
    return found.join('\n') || `Nothing about "${word}". There is something about: ${Object.keys(shelf).join(', ')}.`
  },
})

/** Writes an article into a folder, once a person has allowed it. */
export const publish = (folder: string) =>
  defineTool({
    name: 'publish',
    description: 'Publishes an article.',
    input: z.object({ title: z.string().min(1), text: z.string().min(1) }),
    needsApproval: true,
    run: async ({ title, text }) => {
      const file = `${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.md`
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, file), `# ${title}\n\n${text}\n`)
      return `It is in ${file}.`
    },
  })
