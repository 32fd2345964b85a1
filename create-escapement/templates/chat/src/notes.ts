import { readFile, writeFile } from 'node:fs/promises'
import { defineTool } from 'escapement'
import { z } from 'zod'

/** Tools that keep notes in a file, a line each. */
export const noteTools = (file: string) => [
  defineTool({
    name: 'add_note',
    description: 'Writes down one note.',
    input: z.object({ text: z.string().min(1).describe('A sentence.') }),
    run: async ({ text }) => {
      await writeFile(file, `${text.replaceAll(/\s+/g, ' ')}\n`, { flag: 'a' })
      return 'It is written down.'
    },
  }),
  defineTool({
    name: 'list_notes',
    description: 'Lists all notes, the oldest first.',
    input: z.object({}),
    // It changes nothing: after a crash it may run again.
    effects: 'none',
    run: async () => (await readNotes(file)) || 'There are no notes yet.',
  }),
]

const readNotes = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
