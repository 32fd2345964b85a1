// The runtime of CopilotKit between its page and our endpoint: `node copilotRuntime.mjs <url of the endpoint>`. Prints its port.
import { createServer } from 'node:http'
import { HttpAgent } from '@ag-ui/client'
import { CopilotRuntime } from '@copilotkit/runtime/v2'
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node'

const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url: process.argv[2] }) } })
const server = createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit', cors: true }))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
