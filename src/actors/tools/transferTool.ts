import { z } from 'zod'
import { lazily } from '../../protocol/lazily.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import { defineTool, type Tool } from './defineTool.ts'
import { asOwn } from './ownTools.ts'

/** Result of a transfer tool: the agent that is to have the conversation. */
export class TransferCall {
  readonly to: string

  constructor(to: string) {
    this.to = to
  }
}

export const transferName = (name: string): string => `transfer_to_${name}`

const input = lazily(() => z.object({}))

/** Returns the tool with which a model hands its conversation over to an agent. */
export const transferTool = ({ name, description }: Pick<AgentDefinition, 'name' | 'description'>): Tool =>
  asOwn(
    defineTool({
      name: transferName(name),
      description:
        `Hand this conversation over to the agent "${name}", who answers from then on. ${description}`.trim(),
      effects: 'none',
      input: input(),
      run: () => new TransferCall(name),
    }),
  )
