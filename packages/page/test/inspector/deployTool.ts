import { z } from 'zod'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'

/** Tool that needs an approval for each call. */
export const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys.',
  input: z.object({ to: z.string() }),
  needsApproval: true,
  run: ({ to }) => `It is in ${to}.`,
})
