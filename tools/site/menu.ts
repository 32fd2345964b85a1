/** A part of the menu. */
export interface MenuGroup {
  readonly label: string
  /** Slugs in the order in which they are read; with a label where the page's own title is too long. */
  readonly pages: readonly (string | readonly [slug: string, label: string])[]
  /** Closed until one of its pages is shown. */
  readonly isClosed?: boolean
}

/**
 * The menu, from the first visit to the last detail. A test wants every page of `docs` in it, but for decisions, which contributors find
 * from the architecture, and what is to be sent to other projects, which decisions lead to.
 */
export const menu: readonly MenuGroup[] = [
  {
    label: 'Start',
    pages: [
      ['', 'What it is'],
      'quick-start',
      'playground',
      ['session', 'A recorded session'],
      ['readme', 'All pages'],
    ],
  },
  {
    label: 'Guide',
    pages: [
      ['guide', 'Overview'],
      'guide/agents',
      'guide/models',
      'guide/tools',
      'guide/hooks',
      'guide/tool-sources',
      'guide/answers',
      'guide/limits',
      'guide/application',
      'guide/over-web-socket',
      'guide/command-line',
      ['guide/options', 'Its options'],
      'guide/terminal',
    ],
  },
  {
    label: 'Coming from',
    pages: [
      ['coming-from/lang-graph', 'LangGraph.js'],
      ['coming-from/ai-sdk', 'AI SDK agents'],
      ['coming-from/open-ai-agents', 'OpenAI Agents SDK'],
      ['coming-from/mastra', 'Mastra'],
      ['coming-from/pi', 'pi'],
    ],
  },
  {
    label: 'Building agents',
    pages: [
      ['in-your-application', 'In your application'],
      'recipes',
      'sub-agents',
      'skills',
      'permissions',
      'memory',
      'schedules',
      'state',
      'workspaces',
      ['background', 'Calls in the background'],
      ['artifacts', 'Large results'],
      'tools-from-elsewhere',
      ['code', 'Scripts that call tools'],
    ],
  },
  {
    label: 'Braking',
    pages: [['braking', 'The braking layer'], 'policies'],
  },
  {
    label: 'Measuring',
    pages: ['evaluation', 'suites', 'live-evaluation', 'evidence'],
  },
  {
    label: 'Integrations',
    pages: [
      ['use-chat', 'useChat (AI SDK)'],
      'react',
      ['ag-ui', 'AG-UI'],
      ['mcp', 'MCP'],
      ['openapi', 'OpenAPI'],
      ['acp', 'Editors (ACP)'],
      ['a2a', 'Agents elsewhere (A2A)'],
      'xstate',
      ['hosts', 'Machines that are kept'],
      'bundlers',
    ],
  },
  {
    label: 'Operate',
    pages: [
      'inspector',
      'debugging',
      'tracing',
      'security',
      'durability',
      'stores',
      'postgres',
      ['scale', 'Beyond one process'],
      ['restate', 'On many machines'],
      ['configuration', 'Command line'],
    ],
  },
  {
    label: 'Reference',
    pages: [
      ['api', 'API'],
      'errors',
      'protocol',
      'charts',
      'performance',
      'stability',
      'upgrading',
      'changelog',
      ['security-policy', 'Reporting a hole'],
      'code-of-conduct',
    ],
  },
  {
    label: 'Changing escapement',
    pages: [
      'architecture',
      'contributing',
      ['changing/add-tool', 'Add a tool'],
      ['changing/add-brake', 'Add a brake'],
      ['changing/add-adapter', 'Add an adapter'],
    ],
    isClosed: true,
  },
]
