import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { maxTextBytes, textOf } from '../files/readText.ts'
import type { Approval } from './approval.ts'
import { byteSource } from './textFile.ts'
import type { WorkspaceUse } from './workspaceUse.ts'

const input = lazily(() =>
  z.object({
    path: z.string().min(1).describe('File, relative to the workspace.'),
    offset: z.int().positive().optional().describe('First line to read, from 1. Default 1.'),
    limit: z.int().positive().optional().describe('Most lines to read. Default: as many as fit.'),
  }),
)
export type ReadFileInput = z.output<ReturnType<typeof input>>

/** Creates `read_file`: returns a file's text unchanged, or a part of it headed by a line that says which. */
export const readFileTool = (use: WorkspaceUse, needsApproval: Approval<ReadFileInput>) =>
  defineTool({
    name: 'read_file',
    description:
      'Read a UTF-8 text file of the workspace. At most 50 kB come back; a partial answer starts with a line in brackets ' +
      'that says which lines it holds, e.g. [lines 1–200 of 950]: read on with offset. Binary files are refused.',
    input: input(),
    canonical: (given) => ({ ...given, path: use.spell(given.path, 'file') }),
    subject: ({ path }) => ({ path }),
    needsApproval,
    effects: 'none',
    maxOutputChars: maxTextBytes + 1000,
    run: async ({ path, offset = 1, limit = Infinity }, context) => {
      const handle = await byteSource(use.of(context), path, context.signal)
      return textOf({ path, size: handle.size, handle }, { offset, limit }, context)
    },
  })
