import { documentOf } from './write-document.ts';
import { renderHtml } from './html/render-html.ts';
import { renderMarkdown } from './render-markdown.ts';
import { renderText } from './render-text.ts';
import type { RunReport } from './report-types.ts';

export const reportFormats = ['terminal', 'json', 'markdown', 'html'] as const;

export type ReportFormat = (typeof reportFormats)[number];

/** Renders the report in a format; the text ends with a line end. */
export function renderReport(report: RunReport, format: ReportFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
    case 'terminal':
      return renderText(documentOf(report));
    case 'markdown':
      return renderMarkdown(documentOf(report));
    case 'html':
      return renderHtml(report, documentOf(report));
  }
}
