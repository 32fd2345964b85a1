/** What is fetched once the page is there. */
export { codeTokens } from '../../text/codeTokens.ts'
export { growMarkdown } from '../../text/growingMarkdown.ts'
export { parseMarkdown } from '../../text/markdown.ts'
