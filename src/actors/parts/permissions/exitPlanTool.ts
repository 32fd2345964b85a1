import { z } from 'zod'
import type { AgentPorts } from '../../agentPorts.ts'
import { BoundCall } from '../../tools/boundCall.ts'
import { defineTool, type AnyTool } from '../../tools/defineTool.ts'

export const exitPlanName = 'exit_plan'

/** Returns the tool with which a model has people accept its plan. They are asked as for any approval; once they accept, plan mode ends. */
export const exitPlanTool = (): AnyTool =>
  defineTool({
    name: exitPlanName,
    description:
      'In plan mode only: show people your complete plan. If they accept it, plan mode ends and you carry it out. Otherwise they say what to change.',
    input: z.object({ plan: z.string().min(1).describe('The whole plan, as people should read it.') }),
    effects: 'none',
    run: () => new BoundCall<AgentPorts>(endPlan),
  })

async function endPlan(ports: AgentPorts): Promise<string> {
  const { permissions } = ports
  const own = permissions?.own
  if (own?.mode !== 'plan')
    return permissions?.layers.some(({ mode }) => mode === 'plan') === true
      ? 'The agent that called you is in plan mode, so you stay in it: answer with your plan.'
      : 'You are not in plan mode: carry on.'
  ports.record([{ type: 'mode.changed', mode: own.before, by: 'plan' }])
  await ports.durable()
  return 'The plan was accepted, and plan mode has ended: carry it out.'
}
