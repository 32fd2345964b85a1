import { z } from 'zod'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'

/** What nobody may do alone: each call of it waits for an approval. */
export const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys.',
  input: z.object({ to: z.string() }),
  needsApproval: true,
  run: ({ to }) => `It is in ${to}.`,
})
