// A coding agent for a folder: it reads, edits and runs tests, asks before it runs anything else, and goes on after a crash.
import { createRuntime, defineAgent, fileStore, workspaceTools, type Model } from '../../../src/index.ts'

/** Works on a task in a folder; run again with the same `id` after a crash, it goes on where it was. */
export async function work(
  {
    id,
    folder,
    task,
    model,
  }: { readonly id: string; readonly folder: string; readonly task: string; readonly model: Model },
  ask: (command: unknown) => Promise<boolean>,
): Promise<string> {
  const coder = defineAgent({
    name: 'folder-coder',
    instructions: 'Fix what you are asked to, and run the tests before you say that it is done.',
    model,
    tools: workspaceTools(folder, { needsApproval: { run_command: ({ command }) => command !== 'npm test' } }),
    limits: { turns: 50, costUsd: 5 },
  })
  const runtime = await createRuntime({ store: fileStore(`${folder}/.agents`) })
  const agent = await runtime.open(id, coder)
  const decide = async ({ key, input }: { readonly key: string; readonly input: unknown }): Promise<void> =>
    agent.decide(key, (await ask(input)) ? 'approve' : 'deny')
  for (const call of agent.approvals()) void decide(call) // those that were waiting when the process died
  agent.subscribe((event) => (event.type === 'approval.requested' ? decide(event) : undefined))
  const isNew = agent.conversation.head === null
  const { text } = await agent.prompt(isNew ? task : 'Go on, and say what you have done.').result
  await runtime.close()
  return text
}
