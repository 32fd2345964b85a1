/** The templates, by name: each is a folder of `templates`. */
export const templates = {
  chat: 'a chat at the terminal, with tools',
  coder: 'a coding agent that asks before it runs a command',
  team: 'a lead with sub-agents, and approvals',
  web: 'a web app with React: an agent for each visitor',
} as const

export type TemplateName = keyof typeof templates

export const templateNames = Object.keys(templates) as readonly TemplateName[]

export const isTemplate = (name: string): name is TemplateName => Object.hasOwn(templates, name)
