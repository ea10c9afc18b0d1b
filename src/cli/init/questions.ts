import { select, text } from "@clack/prompts";
import { problemWithName, TEMPLATES, type TemplateName, type AgentChoice } from "./init.ts";

/** Asks for what the command line does not specify. Undefined if the person cancels. */
export async function ask(defaults: AgentChoice, given: Partial<AgentChoice>): Promise<AgentChoice | undefined> {
  const template = given.template ?? (await askTemplate(defaults));
  if (typeof template === "symbol") return undefined;
  const name = given.name ?? (await askName(defaults));
  return typeof name === "symbol" ? undefined : { template, name };
}

function askTemplate({ template }: AgentChoice): Promise<TemplateName | symbol> {
  const names = Object.keys(TEMPLATES) as TemplateName[];
  return select({
    message: "Which template?",
    initialValue: template,
    options: names.map((value) => ({ value, label: value, hint: TEMPLATES[value].title })),
  });
}

function askName({ name }: AgentChoice): Promise<string | symbol> {
  return text({
    message: "Agent name?",
    initialValue: name,
    validate: (value) => problemWithName(value ?? ""),
  });
}
